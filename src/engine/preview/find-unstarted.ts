import { describeTrigger, planRoutes, scheduleOf } from '../../author/read-workflow.ts'
import type { AnyWorkflow } from '../../author/workflow.ts'
import { planRuns } from '../../core/incoming/route.ts'
import type { ClaimedRun } from '../../core/runs/claim.ts'
import type { Unstarted } from './previewed.ts'

/** Origins of runs that `on` decides about. Others follow from a run, or from a person. */
const ROUTED: readonly ClaimedRun['origin'][] = ['event', 'tick', 'replay', 'plan']

/** Tells that the code would not have been started; null where its `on` still has the cause. */
export function findUnstarted(workflow: AnyWorkflow, { cause, origin, handler }: ClaimedRun): Unstarted | null {
  if (handler !== 'run' || !ROUTED.includes(origin)) return null
  const on = describeTrigger(workflow)
  if (cause.kind === 'event') {
    return planRuns(cause.event.type, planRoutes(workflow)).length > 0 ? null : { by: cause.event.type, on }
  }
  if (cause.kind === 'call') return null
  const trigger = scheduleOf(workflow)
  if (trigger === null) return { by: 'tick', on }
  const { accounts } = trigger
  const isOurs = accounts === 'each' || accounts.includes(cause.account)
  return isOurs ? null : { by: `tick of ${cause.account}`, on: `${on} of ${accounts.join(', ')}` }
}
