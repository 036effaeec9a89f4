import { z } from 'zod'
import { MAX_BACKFILL, SCHEDULE_OWNERS } from '../../../core/runs/schedule.ts'
import { defineRoutes, isDryRun, pageOf, paging, time } from '../route.ts'
import { run } from './runs.ts'

const catchUp = z.enum(['skip', 'latest', 'all'])
const overlap = z.enum(['queue', 'skip', 'allow'])
const accounts = z
  .union([z.literal('each'), z.array(z.string()).min(1)])
  .describe('The accounts that each moment has a run for; `each`: all that exist at the moment.')

export const cron = z.object({
  expression: z.string(),
  timezone: z.string(),
  catchUp,
  withinMs: z.int(),
  overlap,
  accounts: accounts.readonly(),
})

const schedule = z
  .object({
    id: z.string(),
    name: z.string(),
    owner: z.enum(SCHEDULE_OWNERS).describe('A cron line of a module, a person, or the code of a run.'),
    madeBy: z.string().describe('The file of the module, the person, or the run.'),
    workflow: z.string().nullable().describe('Null: it sends an event.'),
    sends: z.string().nullable().describe('Type of the event that it sends.'),
    kind: z.enum(['cron', 'once', 'backfill']),
    expression: z.string().nullable(),
    timezone: z.string().nullable(),
    at: time().nullable().describe('Of `once`: its moment.'),
    from: time().nullable().describe('Of `backfill`: the stretch whose moments it records.'),
    to: time().nullable(),
    perMinute: z.number().nullable(),
    catchUp,
    withinMs: z.int(),
    overlap,
    accounts,
    input: z.unknown().describe('What its runs get; null for a viewer, who sees no payload.'),
    createdAt: time(),
    startedAt: time(),
    handledAt: time().nullable().describe('The latest moment that is handled, with a run or without.'),
    lastTickAt: time().nullable(),
    lastRun: z.string().nullable(),
    pausedAt: time().nullable(),
    doneAt: time().nullable().describe('When nothing was left of it to do; it stays in lists for 7 days.'),
    nextAt: time().nullable().describe('Null while it is paused, or where there is none.'),
    next: z.array(time()).describe('The next five moments.'),
    missed: z.int().describe('Moments without a run because nothing was running.'),
    skipped: z.int().describe('Ticks skipped because the previous run had not finished.'),
    suppressed: z.int().describe('Moments without a run because of a pause.'),
    unfinished: z.int(),
  })
  .meta({ id: 'Schedule' })

const instant = z.iso.datetime({ offset: true })

/** The parts of a schedule that a person gives. */
const given = {
  cron: z.string().max(200).optional().describe('Five fields, or six with seconds first. Either this or `at`.'),
  at: instant.optional().describe('The one moment: ISO 8601 with an offset, such as 2026-12-24T18:00:00+01:00.'),
  timezone: z.string().max(100).optional().describe('Of a cron line: an IANA name. A new one: UTC.'),
  input: z.unknown().optional().describe('For the workflow: at most 64 KiB of JSON. A new one: null.'),
  accounts: accounts.optional(),
  catchUp: catchUp.optional().describe('Missed moments: one run for all, one each, or none. A new one: latest.'),
  within: z
    .string()
    .max(40)
    .optional()
    .describe('Older missed moments are only counted: 2h, 7d, 366 days at most. A new one: 24h, of `at` no limit.'),
  overlap: overlap.optional().describe('While the tick before is at work. A new one: queue.'),
}

const stretch = {
  from: instant.describe('The first moment that may be among them.'),
  to: instant.describe('The last one.'),
}

export const SCHEDULE_ROUTES = defineRoutes({
  'GET /schedules': {
    id: 'listSchedules',
    summary: 'All schedules, by id: cron lines of modules, and what people and code added',
    query: {
      ...paging,
      workflow: z.string().optional().describe('Only those of this workflow.'),
      owner: z.enum(SCHEDULE_OWNERS).optional().describe('Only those of modules, of people or of code.'),
    },
    answer: pageOf(schedule),
  },
  'POST /schedules': {
    id: 'addSchedule',
    summary: 'Adds a schedule of a callable workflow; its input is checked against the schema',
    body: {
      name: z.string().max(200).describe('1 to 100 letters, digits and ". _ : @ -".'),
      workflow: z.string().describe('A workflow with `on: callable(…)`.'),
      ...given,
      isDryRun,
    },
    answer: schedule,
    audit: 'schedule.add',
    isIdempotent: true,
  },
  'GET /schedules/:name': {
    id: 'getSchedule',
    summary: 'One schedule by its name or id; a cron line in code has the name of its workflow',
    answer: schedule,
  },
  'PATCH /schedules/:name': {
    id: 'editSchedule',
    summary: 'Changes what is given; other moments begin now. A cron line in code is changed in its module',
    body: { ...given, isDryRun },
    answer: schedule,
    audit: 'schedule.edit',
  },
  'DELETE /schedules/:name': {
    id: 'removeSchedule',
    summary: 'Removes a schedule; its runs are kept. A cron line in code is removed in its module',
    audit: 'schedule.remove',
  },
  'POST /schedules/:name/pause': {
    id: 'pauseSchedule',
    summary: 'Makes no more ticks; moments of the pause are counted, never caught up with',
    answer: schedule,
    audit: 'schedule.pause',
  },
  'POST /schedules/:name/resume': {
    id: 'resumeSchedule',
    summary: 'Makes ticks again',
    answer: schedule,
    audit: 'schedule.resume',
  },
  'POST /schedules/:name/run': {
    id: 'runSchedule',
    summary: 'A tick by hand; its run waits for an unfinished one unless the schedule allows overlap',
    body: {
      scheduledFor: instant.optional().describe('Default: now.'),
      account: z.string().optional().describe('Default: each account of the schedule.'),
    },
    answer: z.object({ items: z.array(run).describe('One for each account.') }),
    audit: 'schedule.run',
    isIdempotent: true,
  },
  'GET /schedules/:name/backfill': {
    id: 'previewBackfill',
    summary: 'The moments that a backfill would record; nothing is changed',
    query: stretch,
    answer: z.object({
      moments: z.int().describe(`Moments of the stretch, at most ${MAX_BACKFILL}.`),
      ran: z.int().describe('Those that have a tick already, and are passed over.'),
      first: time().nullable(),
      last: time().nullable(),
    }),
  },
  'POST /schedules/:name/backfill': {
    id: 'startBackfill',
    summary:
      'Records past moments as ticks, each once, at a rate; the answer is a schedule that can be paused or removed',
    body: {
      ...stretch,
      perMinute: z
        .number()
        .min(0.001)
        .max(6_000)
        .default(10)
        .describe('Moments per minute; 0.001 is 17 hours a moment.'),
    },
    answer: schedule,
    audit: 'schedule.backfill',
    isIdempotent: true,
  },
})
