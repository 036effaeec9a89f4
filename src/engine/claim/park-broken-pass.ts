import { describeError } from '../../core/errors.ts'
import type { Publish } from '../../core/notices.ts'
import type { ClaimedRun } from '../../core/runs/claim.ts'
import type { Store } from '../../core/store/store.ts'
import { type Clock, waitUntil } from '../../core/time.ts'
import { describeOutcome, isStaleLease } from '../execute/settle-run.ts'

/** A run whose pass broke goes on after this long, and so often it is tried to say so. */
const HAND_BACK_MS = 5_000

/**
 * Parks a run whose pass itself broke, most likely because the store cannot be written: it must not
 * stay ours for ever.
 */
export async function parkBrokenPass(
  { store, clock, publish }: { store: Pick<Store, 'parkRun'>; clock: Clock; publish: Publish },
  run: ClaimedRun,
  error: unknown,
  signal: AbortSignal,
): Promise<void> {
  const failure = describeError(error)
  publish({ kind: 'fault', where: `run ${run.lease.runId}`, error: failure })
  while (!signal.aborted) {
    const dueAt = clock.now() + HAND_BACK_MS
    const outcome = { kind: 'parked', dueAt, reason: `interrupted: ${failure.message}` } as const
    const isDone = await store.parkRun(run.lease, outcome).then(() => true, isStaleLease)
    if (isDone) return publish(describeOutcome(run, outcome, { now: clock.now(), steps: 0 }))
    await waitUntil(clock, dueAt, signal).catch(() => {})
  }
}
