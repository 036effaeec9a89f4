import type { AnswerOf } from '../../admin/contract/routes.ts'

export type Workflow = AnswerOf<'GET /workflows'>['items'][number]

/** The trigger of a workflow, in words. */
export function triggerOf({ eventTypes, schedule }: Workflow): string {
  if (schedule) return `cron ${schedule.expression}`
  return eventTypes.length === 0 ? 'other workflows' : eventTypes.join(', ')
}
