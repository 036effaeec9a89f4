import { z } from 'zod'
import { type RouteTable, reason, time, usual, why } from '../route.ts'
import { run } from './runs.ts'
import { shadow } from './shadows.ts'

const cron = z.object({
  expression: z.string(),
  timezone: z.string(),
  catchUp: z.enum(['skip', 'latest', 'all']),
  withinMs: z.int(),
  overlap: z.enum(['queue', 'skip', 'allow']),
  accounts: z
    .union([z.literal('each'), z.array(z.string()).readonly()])
    .describe('The accounts that each moment has a run for.'),
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
    usual: usual.nullable().describe('From start to end of its completed runs in the last 7 days; null without any.'),
  })
  .meta({ id: 'Workflow' })

const details = workflow
  .extend({ shadows: z.array(shadow).describe('Newest first; those of the last five versions of its code.') })
  .meta({ id: 'WorkflowDetails' })

const schedule = z
  .object({
    workflow: z.string(),
    ...cron.shape,
    startedAt: time().nullable(),
    lastTickAt: time().nullable(),
    lastRun: z.string().nullable(),
    pausedAt: time().nullable(),
    nextAt: time().nullable().describe('Null while it is paused, or where there is none.'),
    missed: z.int().describe('Moments without a run because nothing was running.'),
    skipped: z.int().describe('Ticks skipped because the previous run had not finished.'),
    suppressed: z.int().describe('Moments without a run because of a pause.'),
    unfinished: z.int(),
  })
  .meta({ id: 'Schedule' })

export const WORKFLOW_ROUTES = {
  'GET /workflows': {
    id: 'listWorkflows',
    summary: 'All workflows, by id',
    role: 'viewer',
    answer: z.object({
      items: z.array(workflow),
      broken: z.array(z.object({ file: z.string(), reason: z.string() })).describe('Modules that cannot be loaded.'),
      unmatched: z
        .array(z.object({ type: z.string(), events: z.int() }))
        .describe('Accepted events of types that no workflow starts on now, the most frequent type first.'),
    }),
  },
  'GET /workflows/:id': {
    id: 'getWorkflow',
    summary: 'One workflow, with the differences of its shadows',
    role: 'viewer',
    answer: details,
  },
  'GET /schedules': {
    id: 'listSchedules',
    summary: 'All schedules, by workflow',
    role: 'viewer',
    answer: z.object({ items: z.array(schedule) }),
  },
  'GET /schedules/:workflow': {
    id: 'getSchedule',
    summary: 'The schedule of a workflow',
    role: 'viewer',
    answer: schedule,
  },
  'POST /workflows/:id/pause': {
    id: 'pauseWorkflow',
    summary: 'Holds the runs of a workflow; passes under way go on, and events are still stored',
    role: 'operator',
    body: z.strictObject({ reason }),
    answer: workflow,
    audit: 'workflow.pause',
  },
  'POST /workflows/:id/resume': {
    id: 'resumeWorkflow',
    summary: 'Ends a pause and releases the held runs, oldest first',
    role: 'operator',
    body: z.strictObject({ reason }),
    answer: workflow,
    audit: 'workflow.resume',
  },
  'DELETE /workflows/:id': {
    id: 'removeWorkflow',
    isDestructive: true,
    summary: 'Forgets a workflow whose module is gone; its runs are kept, and its events start none',
    role: 'operator',
    query: why,
    answer: null,
    audit: 'workflow.remove',
  },
  'POST /workflows/:id/start': {
    id: 'startWorkflow',
    summary: 'Starts a callable workflow; the run fails where the input does not fit its schema',
    role: 'operator',
    body: z.strictObject({
      input: z.unknown().describe('At most 64 KiB of JSON.'),
      account: z.string().default('default').describe('The account that it acts for.'),
      reason,
    }),
    answer: run,
    audit: 'run.start',
    isIdempotent: true,
  },
  'GET /schedules/:workflow/next': {
    id: 'listNextTicks',
    summary: 'The next moments of a schedule',
    role: 'viewer',
    query: z.strictObject({ count: z.coerce.number().int().min(1).max(100).default(8).describe('The most moments.') }),
    answer: z.object({ items: z.array(time()) }),
  },
  'POST /schedules/:workflow/pause': {
    id: 'pauseSchedule',
    summary: 'Makes no more ticks; moments of the pause are counted, never caught up with',
    role: 'operator',
    body: z.strictObject({ reason }),
    answer: schedule,
    audit: 'schedule.pause',
  },
  'POST /schedules/:workflow/resume': {
    id: 'resumeSchedule',
    summary: 'Makes ticks again',
    role: 'operator',
    body: z.strictObject({ reason }),
    answer: schedule,
    audit: 'schedule.resume',
  },
  'POST /schedules/:workflow/run': {
    id: 'runSchedule',
    summary: 'A tick by hand; its run waits for an unfinished one unless the schedule allows overlap',
    role: 'operator',
    body: z.strictObject({
      scheduledFor: z.iso.datetime({ offset: true }).optional().describe('Default: now.'),
      account: z.string().optional().describe('Default: each account of the schedule; the answer is the first run.'),
      reason,
    }),
    answer: run,
    audit: 'schedule.run',
    isIdempotent: true,
  },
} as const satisfies RouteTable
