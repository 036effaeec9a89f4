import { UpshotError } from '../../../core/errors.ts'
import type { ScheduleRecord } from '../../../core/runs/schedule.ts'
import type { WorkflowRecord } from '../../../core/runs/workflow-record.ts'
import type { ReadStore } from '../../../core/store/store.ts'
import { parseCronLine } from '../../../schedule/cron-line.ts'
import { withIsoTimes } from '../../terminal/format-value.ts'

/** A workflow for JSON: moments as text. */
export function describeWorkflow(workflow: WorkflowRecord): Record<string, unknown> {
  return withIsoTimes(workflow)
}

/** What starts it, such as `file.*, transfer.completed` or `cron 0 3 * * * (Europe/Berlin)`. */
export function describeTrigger({ eventTypes, schedule }: Pick<WorkflowRecord, 'eventTypes' | 'schedule'>): string {
  return schedule ? `cron ${schedule.expression} (${schedule.timezone})` : eventTypes.join(', ')
}

/** A schedule with its next moment; null while it is paused, or when the line has none any more. */
export function withNextMoment(schedule: ScheduleRecord, now: number): ScheduleRecord & { nextAt: number | null } {
  const { expression, timezone } = schedule.trigger
  return { ...schedule, nextAt: schedule.pausedAt === null ? parseCronLine(expression, timezone)(now) : null }
}

/** Throws `not_found` that names those there are. */
export async function requireWorkflow(store: ReadStore, id: string): Promise<WorkflowRecord> {
  const workflows = await store.listWorkflows()
  const found = workflows.find((workflow) => workflow.id === id)
  if (found) return found
  throw new UpshotError('not_found', `There is no workflow "${id}".`, { details: { fix: adviseNames(workflows) } })
}

/** Throws `not_found` for a workflow without a cron line, too. */
export async function requireSchedule(store: ReadStore, workflow: string): Promise<ScheduleRecord> {
  await requireWorkflow(store, workflow)
  const schedules = await store.listSchedules()
  const found = schedules.find((schedule) => schedule.workflow === workflow)
  if (found) return found
  throw new UpshotError('not_found', `The workflow "${workflow}" runs on events, it has no schedule.`, {
    details: { fix: adviseNames(schedules.map((schedule) => ({ id: schedule.workflow }))) },
  })
}

function adviseNames(known: readonly { id: string }[]): string {
  if (known.length === 0) return 'None is known yet. The app makes them known when it starts.'
  return `Choose one of: ${known.map(({ id }) => id).join(', ')}.`
}
