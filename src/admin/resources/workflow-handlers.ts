import { UpshotError } from '../../core/errors.ts'
import type { ScheduleRecord } from '../../core/runs/schedule.ts'
import type { WorkflowRecord } from '../../core/runs/workflow-record.ts'
import { isoTime } from '../../core/time.ts'
import type { WORKFLOW_ROUTES } from '../contract/workflows.ts'
import type { Handlers } from '../http/handler.ts'
import { momentOf } from '../views/moment-of.ts'
import type { ResourceParts } from './parts.ts'

/** Workflows and their schedules. */
export function workflowHandlers({ store }: ResourceParts): Handlers<keyof typeof WORKFLOW_ROUTES> {
  return {
    'GET /workflows': async () => ({ items: (await store.listWorkflows()).map(describeWorkflow) }),
    async 'GET /workflows/:id'({ params }) {
      const workflow = (await store.listWorkflows()).find(({ id }) => id === params.id)
      if (workflow) return describeWorkflow(workflow)
      throw new UpshotError('not_found', `There is no workflow "${params.id}".`)
    },
    'GET /schedules': async () => ({ items: (await store.listSchedules()).map(describeSchedule) }),
    async 'GET /schedules/:workflow'({ params }) {
      const schedule = (await store.listSchedules()).find(({ workflow }) => workflow === params.workflow)
      if (schedule) return describeSchedule(schedule)
      throw new UpshotError('not_found', `The workflow "${params.workflow}" has no schedule.`)
    },
  }
}

function describeWorkflow({ loadedAt, pausedAt, priority = 0, runTimeoutMs, ...rest }: WorkflowRecord) {
  return {
    ...rest,
    priority,
    runTimeoutMs: runTimeoutMs ?? null,
    loadedAt: isoTime(loadedAt),
    pausedAt: momentOf(pausedAt),
  }
}

function describeSchedule({ trigger, startedAt, lastTickAt, pausedAt, ...rest }: ScheduleRecord) {
  const { kind: _, ...line } = trigger
  const moments = { startedAt: momentOf(startedAt), lastTickAt: momentOf(lastTickAt), pausedAt: momentOf(pausedAt) }
  return { ...rest, ...line, ...moments }
}
