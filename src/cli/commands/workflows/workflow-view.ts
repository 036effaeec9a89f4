import { UpshotError } from '../../../core/errors.ts'
import type { ScheduleRecord } from '../../../core/runs/schedule.ts'
import type { WorkflowRecord } from '../../../core/runs/workflow-record.ts'
import type { ReadStore } from '../../../core/store/store.ts'
import { parseCronLine } from '../../../schedule/cron-line.ts'
import { withIsoTimes } from '../../terminal/format-value.ts'

/** A workflow for JSON: times as text. */
export function describeWorkflow(workflow: WorkflowRecord): Record<string, unknown> {
  return withIsoTimes(workflow)
}

/** Its trigger, such as `file.*, transfer.completed` or `cron 0 3 * * * (Europe/Berlin)`. */
export function describeTrigger({ eventTypes, schedule }: Pick<WorkflowRecord, 'eventTypes' | 'schedule'>): string {
  return schedule ? `cron ${schedule.expression} (${schedule.timezone})` : eventTypes.join(', ')
}

/** A schedule with its next time; null while paused, or if there is none. */
export function withNextTime(schedule: ScheduleRecord, now: number): ScheduleRecord & { nextAt: number | null } {
  const { expression, timezone } = schedule.trigger
  return { ...schedule, nextAt: schedule.pausedAt === null ? parseCronLine(expression, timezone)(now) : null }
}

/** The workflow with this id; throws `not_found`, which lists the ids. */
export async function requireWorkflow(store: ReadStore, id: string): Promise<WorkflowRecord> {
  const workflows = await store.listWorkflows()
  const found = workflows.find((workflow) => workflow.id === id)
  if (found) return found
  throw new UpshotError('not_found', `There is no workflow "${id}".`, { details: { fix: adviseNames(workflows) } })
}

/** The schedule of a workflow; throws `not_found`, also for a workflow without a schedule. */
export async function requireSchedule(store: ReadStore, workflow: string): Promise<ScheduleRecord> {
  await requireWorkflow(store, workflow)
  const schedules = await store.listSchedules()
  const found = schedules.find((schedule) => schedule.workflow === workflow)
  if (found) return found
  throw new UpshotError('not_found', `The workflow "${workflow}" runs on events and has no schedule.`, {
    details: { fix: adviseNames(schedules.map((schedule) => ({ id: schedule.workflow }))) },
  })
}

function adviseNames(known: readonly { id: string }[]): string {
  if (known.length === 0) return 'Start the app, which registers the workflows.'
  return `Choose one of: ${known.map(({ id }) => id).join(', ')}.`
}
