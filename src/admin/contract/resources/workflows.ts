import { z } from 'zod'
import { STEP_KINDS } from '../../../core/runs/step.ts'
import { defineRoutes, time, usual } from '../route.ts'
import { run } from './runs.ts'
import { cron } from './schedules.ts'

const workflow = z
  .object({
    id: z.string(),
    file: z.string(),
    eventTypes: z.array(z.string()),
    schedule: cron.nullable(),
    input: z.unknown().describe('JSON Schema of the input of a callable workflow; null for any other.'),
    priority: z.int(),
    runTimeoutMs: z.int().nullable(),
    loadedAt: time(),
    pausedAt: time().nullable(),
    held: z.int().describe('Runs that wait because of the pause.'),
    usual: usual.nullable().describe('From start to end of its completed runs in the last 7 days; null without any.'),
  })
  .meta({ id: 'Workflow' })

export const WORKFLOW_ROUTES = defineRoutes({
  'GET /workflows': {
    id: 'listWorkflows',
    summary: 'All workflows, by id',
    answer: z.object({
      items: z.array(workflow),
      broken: z.array(z.object({ file: z.string(), reason: z.string() })).describe('Modules that cannot be loaded.'),
      unmatched: z
        .array(
          z.object({
            type: z.string(),
            events: z.int(),
            isAwaited: z.boolean().describe('A run waits for such events, or did in the last 24 hours.'),
          }),
        )
        .describe('Accepted events of types that no workflow starts on now, the most frequent type first.'),
    }),
  },
  'GET /workflows/:id': {
    id: 'getWorkflow',
    summary: 'One workflow',
    answer: workflow,
  },
  'GET /workflows/:id/graph': {
    id: 'getGraph',
    summary: 'The steps of a workflow and their order, read from its newest runs, 20 at most',
    answer: z.object({
      runs: z.int().describe('Runs that were read.'),
      nodes: z
        .array(
          z.object({
            name: z.string(),
            kind: z.enum(STEP_KINDS),
            effect: z.enum(['read', 'write', 'delete']),
            runs: z.int().describe('Runs that had it.'),
            times: z.int().describe('Steps of this name in all of them; more than the runs in a loop.'),
            failed: z.int().describe('Runs in which it failed for good.'),
            p50Ms: z.number().nullable().describe('Median of its time; null without an ended one.'),
          }),
        )
        .describe('In the order in which they began.'),
      edges: z
        .array(z.object({ from: z.string(), to: z.string(), runs: z.int() }))
        .describe('A step that began when another one had ended, with none between.'),
    }),
  },
  'POST /workflows/:id/pause': {
    id: 'pauseWorkflow',
    summary: 'Holds the runs of a workflow; passes under way go on, and events are still stored',
    answer: workflow,
    audit: 'workflow.pause',
  },
  'POST /workflows/:id/resume': {
    id: 'resumeWorkflow',
    summary: 'Ends a pause and releases the held runs, oldest first',
    answer: workflow,
    audit: 'workflow.resume',
  },
  'DELETE /workflows/:id': {
    id: 'removeWorkflow',
    summary: 'Forgets a workflow whose module is gone; its runs are kept, and its events start none',
    audit: 'workflow.remove',
  },
  'POST /workflows/:id/start': {
    id: 'startWorkflow',
    summary: 'Starts a callable workflow; its input is checked against the schema',
    body: {
      input: z.unknown().describe('At most 64 KiB of JSON.'),
      account: z.string().default('default').describe('The account that it acts for.'),
    },
    answer: run,
    audit: 'run.start',
    isIdempotent: true,
  },
})
