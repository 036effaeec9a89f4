import type { AnyWorkflow } from '../../author/workflow.ts'
import { UpshotError } from '../../core/errors.ts'
import type { ClaimedRun } from '../../core/runs/claim.ts'
import type { RunOutcome } from '../../core/runs/run.ts'
import { isoTime, parseDuration } from '../../core/time.ts'
import type { Pass } from './pass.ts'

/** When a run is over, by the `timeout.run` of its workflow or its `endsBy`. Null: never. */
export function computeDeadline(
  { timeout }: Pick<AnyWorkflow, 'timeout'>,
  { startedAt, endsBy }: Pick<ClaimedRun, 'startedAt' | 'endsBy'>,
): number | null {
  const own = timeout?.run === undefined ? Infinity : startedAt + parseDuration(timeout.run, 'timeout.run')
  const moment = Math.min(own, endsBy ?? Infinity)
  return moment === Infinity ? null : moment
}

/** The end of a run whose parent waits no longer, whether that is there or not. */
export function describeExpired({ cause }: Pick<ClaimedRun, 'cause'>): Extract<RunOutcome, { kind: 'expired' }> {
  const parent = cause.kind === 'call' ? cause.parentRun : ''
  return { kind: 'expired', reason: describeGivenUp(parent) }
}

/** Why a child is canceled after the timeout of its step. */
export function describeGivenUp(parent: string): string {
  return `the step of run ${parent} that invoked it timed out`
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
