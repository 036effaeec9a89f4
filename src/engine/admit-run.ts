import { describeError } from '../core/errors.ts'
import type { ClaimedRun, RunOutcome } from '../core/run.ts'
import type { AnyWorkflow } from '../core/workflow.ts'
import type { EventFacts } from './gather-facts.ts'
import { readCause } from './read-cause.ts'
import type { Cause } from './run-context.ts'

export type Admission = { kind: 'admitted'; cause: Cause } | Extract<RunOutcome, { kind: 'skipped' | 'parked' }>

/**
 * Reads what caused the run and asks the author's `where`. Data of another shape, or a filter that throws, parks the run
 * for a person: a workflow that deletes must never run because its filter broke.
 */
export function admitRun(run: ClaimedRun, workflow: AnyWorkflow, facts: EventFacts): Admission {
  const { cause } = run
  if (cause.kind === 'event' && cause.event.body === '') {
    return { kind: 'parked', dueAt: null, reason: `the body of its event ${cause.event.id} is pruned` }
  }
  try {
    const known = readCause(run, workflow, facts)
    // What follows a failure belongs to a run that was let in.
    const isAsked = run.handler === 'run' && 'event' in known && workflow.where
    const isWanted = !isAsked || isAsked(known.event as never)
    return isWanted ? { kind: 'admitted', cause: known } : { kind: 'skipped', reason: 'its `where` said no' }
  } catch (error) {
    return { kind: 'parked', dueAt: null, reason: describeError(error).message }
  }
}
