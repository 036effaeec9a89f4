import type { AnyWorkflow } from '../../author/workflow.ts'
import { UpshotError } from '../../core/errors.ts'
import type { RunOutcome } from '../../core/runs/run.ts'
import { isoTime, parseDuration } from '../../core/time.ts'
import type { Pass } from './pass.ts'

/**
 * When a run that started at `startedAt` times out; null where its workflow has no `timeout.run`.
 */
export function computeDeadline({ timeout }: Pick<AnyWorkflow, 'timeout'>, startedAt: number): number | null {
  return timeout?.run === undefined ? null : startedAt + parseDuration(timeout.run, 'timeout.run')
}

/** The failure of a run that timed out. */
export function describeOverdue(deadline: number): UpshotError {
  return new UpshotError(
    'run_timeout',
    `The run did not end by ${isoTime(deadline)}, as its workflow's \`timeout.run\` says.`,
  )
}

/** Ends the code at the deadline, as a failure does; the result cancels that. */
export function watchDeadline({ deadline, clock, abort, parking }: Pass): () => void {
  if (deadline === null) return () => {}
  return clock.at(deadline, () => {
    const error = describeOverdue(deadline)
    abort.abort(error)
    parking.stop({ kind: 'overdue', error })
  })
}

/** Shortens a wait to the deadline, so that the run wakes in time to fail. */
export function limitWait(outcome: RunOutcome, deadline: number | null): RunOutcome {
  if (deadline === null || (outcome.kind !== 'parked' && outcome.kind !== 'retry')) return outcome
  return { ...outcome, dueAt: Math.min(outcome.dueAt ?? deadline, deadline) }
}
