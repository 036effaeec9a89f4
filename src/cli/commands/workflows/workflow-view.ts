import type { WorkflowRecord } from '../../../core/runs/workflow-record.ts'

/** Types listed by name in one sentence; the others are counted. */
const MAX_NAMED = 5

/** Its trigger, such as `file.*, transfer.completed` or `cron 0 3 * * * (Europe/Berlin)`. */
export function describeTrigger({
  eventTypes,
  schedule,
}: Pick<WorkflowRecord, 'eventTypes'> & { schedule: { expression: string; timezone: string } | null }): string {
  return schedule ? `cron ${schedule.expression} (${schedule.timezone})` : eventTypes.join(', ')
}

/** Such as `12 events started no workflow: file.moved (10), file.renamed (2)`. */
export function describeUnmatched(unmatched: readonly { type: string; events: number }[]): string {
  const total = unmatched.reduce((sum, { events }) => sum + events, 0)
  const named = unmatched.slice(0, MAX_NAMED).map(({ type, events }) => `${type} (${events})`)
  const more = unmatched.length > MAX_NAMED ? [`and ${unmatched.length - MAX_NAMED} other types`] : []
  return `${total} ${total === 1 ? 'event' : 'events'} started no workflow: ${[...named, ...more].join(', ')}`
}
