import { z } from 'zod'
import { type RouteTable, time } from './route.ts'

const cron = z.object({
  expression: z.string(),
  timezone: z.string(),
  catchUp: z.enum(['skip', 'latest', 'all']),
  withinMs: z.int(),
  overlap: z.enum(['queue', 'skip', 'allow']),
})

const workflow = z
  .object({
    id: z.string(),
    file: z.string(),
    eventTypes: z.array(z.string()),
    schedule: cron.nullable(),
    priority: z.int(),
    runTimeoutMs: z.int().nullable(),
    loadedAt: time(),
    pausedAt: time().nullable(),
    held: z.int().describe('Runs that wait because of the pause.'),
  })
  .meta({ id: 'Workflow' })

const schedule = z
  .object({
    workflow: z.string(),
    ...cron.shape,
    startedAt: time().nullable(),
    lastTickAt: time().nullable(),
    lastRun: z.string().nullable(),
    pausedAt: time().nullable(),
    missed: z.int().describe('Moments without a run because nothing was running.'),
    skipped: z.int().describe('Ticks skipped because the previous run had not finished.'),
    suppressed: z.int().describe('Moments without a run because of a pause.'),
    unfinished: z.int(),
  })
  .meta({ id: 'Schedule' })

export const WORKFLOW_ROUTES = {
  'GET /workflows': {
    id: 'listWorkflows',
    tag: 'workflows',
    summary: 'All workflows, by id',
    role: 'viewer',
    answer: z.object({ items: z.array(workflow) }),
  },
  'GET /workflows/:id': {
    id: 'getWorkflow',
    tag: 'workflows',
    summary: 'One workflow',
    role: 'viewer',
    answer: workflow,
  },
  'GET /schedules': {
    id: 'listSchedules',
    tag: 'schedules',
    summary: 'All schedules, by workflow',
    role: 'viewer',
    answer: z.object({ items: z.array(schedule) }),
  },
  'GET /schedules/:workflow': {
    id: 'getSchedule',
    tag: 'schedules',
    summary: 'The schedule of a workflow',
    role: 'viewer',
    answer: schedule,
  },
} as const satisfies RouteTable
