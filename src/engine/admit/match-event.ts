import { describeTrigger, isGated, startsOn } from '../../author/read-workflow.ts'
import type { AnyWorkflow } from '../../author/workflow.ts'
import { describeError } from '../../core/errors.ts'
import type { EventRecord } from '../../core/incoming/event.ts'
import type { MatchClause, MatchFate } from '../../core/incoming/event-match.ts'
import type { AdmissionPlan, Fold, Gate } from '../../core/runs/admission.ts'
import { isWanted } from './admit-run.ts'
import type { EventFacts } from './gather-event-facts.ts'
import { planAdmission } from './plan-admission.ts'
import { readStoredEvent } from './read-cause.ts'

/** The facts of a run that is made now, and has the queue for itself. */
const ALONE = { deadline: null, hasStarted: false, isUnderWay: false, hasSlot: true, isQueueEmpty: true } as const

/**
 * Asks the conditions of a workflow about an event, as an admission does, and starts nothing. The
 * author's `where`, keys and priority are called.
 */
export function matchEvent(
  workflow: AnyWorkflow,
  event: EventRecord,
  facts: EventFacts,
): { fate: MatchFate; clauses: MatchClause[] } {
  const clauses: MatchClause[] = []
  const end = (fate: MatchFate) => ({ fate, clauses })
  const note = (name: MatchClause['name'], fits: boolean, says: string) => clauses.push({ name, fits, says })

  const isRouted = startsOn(workflow, event.type)
  note('on', isRouted, describeTrigger(workflow))
  if (!isRouted) return end('ignored')
  let asking: MatchClause['name'] = 'shape'
  try {
    const cause = { account: event.account, event: readStoredEvent(event, workflow, facts) }
    note('shape', true, 'the event has it')
    asking = 'where'
    const wants = isWanted(workflow, cause)
    if (workflow.where) note('where', wants, `returned ${wants}`)
    if (!wants) return end('skipped')
    asking = 'keys'
    if (isGated(workflow)) {
      const plan = planAdmission(workflow, cause, 'event', { ...ALONE, createdAt: event.receivedAt })
      note('keys', true, describeAdmission(plan))
    }
    return end('starts')
  } catch (error) {
    note(asking, false, describeError(error).message)
    return end('halts')
  }
}

function describeAdmission({ gates, fold, priority, onConflict }: AdmissionPlan): string {
  const parts = [
    ...(fold === null ? [] : [describeFold(fold)]),
    ...gates.map((gate) => describeGate(gate, onConflict)),
    ...(priority === 0 ? [] : [`priority ${priority}`]),
  ]
  return parts.length === 0 ? 'no limit' : parts.join('; ')
}

function describeGate({ name, key, most, perMs }: Gate, onConflict: AdmissionPlan['onConflict']): string {
  const forKey = key === '' ? '' : ` for "${key}"`
  if (name === 'singleton') return `one at a time${forKey}, and another one: ${onConflict}`
  return perMs === null ? `${most} at a time${forKey}` : `${most} starts in ${perMs / 1_000} s${forKey}`
}

function describeFold(fold: Fold): string {
  const wait = `${fold.waitMs / 1_000} s`
  if (fold.kind === 'batch') return `a batch of up to ${fold.size} or ${wait} for "${fold.key}"`
  return `debounced by ${wait} for "${fold.key}"`
}
