import { describeError } from '../../core/errors.ts'
import type { ClaimedRun } from '../../core/runs/claim.ts'
import { isStaleLease } from '../../core/runs/lease.ts'
import { waitUntil } from '../../core/time.ts'
import { describeOutcome } from '../execute/settle-run.ts'
import type { WorkerParts } from '../worker-parts.ts'

/** How long a run waits after its pass broke, and how often we try to write that. */
const PAUSE_MS = 5_000

/**
 * Parks a run whose pass itself broke, most likely because the store cannot be written. Tries again
 * until that is written, the lease is lost, or `signal` aborts.
 */
export async function parkBrokenPass(
  { store, clock, publish }: Pick<WorkerParts, 'store' | 'clock' | 'publish'>,
  run: ClaimedRun,
  error: unknown,
  signal: AbortSignal,
): Promise<void> {
  const failure = describeError(error)
  publish({ kind: 'fault', where: `run ${run.lease.runId}`, error: failure })
  while (!signal.aborted) {
    const dueAt = clock.now() + PAUSE_MS
    const outcome = { kind: 'parked', dueAt, reason: `interrupted: ${failure.message}` } as const
    const isDone = await store.parkRun(run.lease, outcome).then(() => true, isStaleLease)
    if (isDone) return publish(describeOutcome(run, outcome, { now: clock.now(), steps: 0, tags: {} }))
    await waitUntil(clock, dueAt, signal).catch(() => {})
  }
}
