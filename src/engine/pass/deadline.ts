import type { AnyWorkflow } from '../../author/workflow.ts'
import { UpshotError } from '../../core/errors.ts'
import type { RunOutcome } from '../../core/runs/run.ts'
import { isoTime, parseDuration } from '../../core/time.ts'
import type { Pass } from './pass.ts'

/**
 * When the time of a run that started at `startedAt` is over; null where its workflow sets no
 * limit.
 */
export function computeDeadline({ timeout }: Pick<AnyWorkflow, 'timeout'>, startedAt: number): number | null {
  return timeout?.run === undefined ? null : startedAt + parseDuration(timeout.run)
}

/** What a run fails with whose time is over. */
export function describeOverdue(deadline: number): UpshotError {
  return new UpshotError(
    'run_timeout',
    `The run did not end by ${isoTime(deadline)}, as its workflow's \`timeout.run\` says.`,
  )
}

/** Aborts the pass and ends it when the run's time is over; the result ends the watch. */
export function watchDeadline({ deadline, clock, abort, parking }: Pass): () => void {
  if (deadline === null) return () => {}
  return clock.at(deadline, () => {
    const error = describeOverdue(deadline)
    abort.abort(error)
    parking.abandon({ kind: 'overdue', error })
  })
}

/** A run does not wait beyond its deadline: it is woken then, to fail in time. */
export function limitWait(outcome: RunOutcome, deadline: number | null): RunOutcome {
  if (deadline === null || (outcome.kind !== 'parked' && outcome.kind !== 'retry')) return outcome
  return { ...outcome, dueAt: Math.min(outcome.dueAt ?? deadline, deadline) }
}
