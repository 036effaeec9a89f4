import type { Lease } from '../../core/runs/lease.ts'

/** A claim reaches its worker within this time. */
const FORGOTTEN_MS = 5_000

type Held = Omit<Lease, 'worker'>

/**
 * The leases of a worker that it does not execute: those whose claim was committed and never
 * answered. Each has to be seen twice, since a claim may be on its way.
 */
export class ForgottenLeases {
  readonly #seen = new Map<string, { fence: number; since: number }>()

  /** Those of `held` to give back. */
  find(held: readonly Held[], { atWork, now }: { atWork: readonly string[]; now: number }): Held[] {
    const idle = held.filter(({ runId }) => !atWork.includes(runId))
    const before = new Map(this.#seen)
    this.#seen.clear()
    for (const { runId, fence } of idle) {
      const known = before.get(runId)
      this.#seen.set(runId, { fence, since: known?.fence === fence ? known.since : now })
    }
    return idle.filter(({ runId }) => now - (this.#seen.get(runId)?.since ?? now) >= FORGOTTEN_MS)
  }
}
