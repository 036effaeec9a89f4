import { LEASE_MS } from '../../core/runs/lease.ts'
import { carryOutAll } from '../../core/store/safety/carry-out.ts'
import type { WorkerParts } from '../worker-parts.ts'
import { publishRecovery } from './publish-recovery.ts'

type Parts = Pick<WorkerParts, 'store' | 'clock' | 'publish'>

/** Goes on where processes died: with their runs, and with what they had begun. */
export class Recovery {
  readonly #parts: Parts
  readonly #stopping = new AbortController()
  #current: Promise<boolean> | null = null

  constructor(parts: Parts) {
    this.#parts = parts
  }

  /** True: runs woke. */
  run(): Promise<boolean> {
    this.#current = this.#recover()
    return this.#current
  }

  /** Waits for the commit under way; none follows. */
  async stop(): Promise<void> {
    this.#stopping.abort()
    // The caller of `run` hears of its failure.
    await this.#current?.catch(() => {})
  }

  async #recover(): Promise<boolean> {
    const { store, clock, publish } = this.#parts
    const { signal } = this.#stopping
    if (signal.aborted) return false
    const recovery = await store.recoverRuns(clock.now(), LEASE_MS)
    publishRecovery(publish, recovery)
    return recovery.count + (await carryOutAll(store, clock, signal)) > 0
  }
}
