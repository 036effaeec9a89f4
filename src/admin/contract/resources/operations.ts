import { z } from 'zod'
import { RUN_OPERATIONS } from '../../../core/runs/run.ts'
import { BULK_KINDS, BULK_STATUSES } from '../../../core/safety/bulk.ts'
import { defineRoutes, isDryRun, pageOf, paging, time } from '../route.ts'
import { runFilter } from './runs.ts'

export const perSecond = z
  .number()
  .positive()
  .max(10_000)
  .nullable()
  .default(null)
  .describe('Default: 100, cancels as fast as possible.')

const refusal = z.object({ target: z.string().describe('Id of a run or an event.'), why: z.string() })

export const operation = z
  .object({
    id: z.string(),
    kind: z.enum(BULK_KINDS),
    status: z.enum(BULK_STATUSES),
    isDryRun: z.boolean().describe('True: it is done already, and its id names nothing.'),
    filter: z.record(z.string(), z.unknown()).describe('As the search reads it; moments in epoch milliseconds.'),
    by: z.string(),
    reason: z.string().nullable(),
    perSecond: z.number().nullable(),
    workflows: z.array(z.string()).describe('Of a replay: the workflows that run.'),
    total: z.int().describe('Runs or events that the filter selects and that it fits, as far as they are counted.'),
    runs: z.int().describe('Of a replay: the new runs.'),
    writes: z.int().describe('Of a dry run: steps with the effect `write` that would happen again.'),
    deletes: z.int(),
    first: z.array(z.string()).describe('The first 10 runs or events.'),
    foreseen: z
      .object({
        examples: z.array(z.object({ target: z.string(), about: z.string() })),
        refusals: z.array(refusal),
      })
      .nullable()
      .describe('Of a dry run: the first 20 that it fits, and those that it does not fit.'),
    done: z.int(),
    refused: z.int(),
    createdAt: time(),
    endedAt: time().nullable(),
  })
  .meta({ id: 'Operation' })

export const OPERATION_ROUTES = defineRoutes({
  'GET /operations': {
    id: 'listOperations',
    summary: 'Operations on many runs or events, newest first',
    query: paging,
    answer: pageOf(operation),
  },
  'GET /operations/:id': {
    id: 'getOperation',
    summary: 'One operation with its progress, and why some were refused (the first 1,000)',
    answer: z.object({
      operation,
      refusals: z.array(refusal),
    }),
  },
  'GET /operations/:id/progress': {
    id: 'followOperation',
    noTool: 'bytes',
    summary: 'Server-sent events: an operation now, after each slice, and at its end, which ends the stream',
    answer: operation,
    form: 'events',
  },
  'POST /operations': {
    id: 'startOperation',
    isLong: true,
    isDestructive: true,
    summary: 'Does what an operator does with one run to all runs of a filter; runs made later are left out',
    body: {
      kind: z.enum(RUN_OPERATIONS).describe('`restart`: resumes without the journal. `resolve` needs a reason.'),
      filter: z.strictObject(runFilter).describe('Selects the runs; it names one thing at least.'),
      perSecond,
      isDryRun,
    },
    answer: operation,
    audit: 'operation.start',
    isIdempotent: true,
    tellsProgress: true,
  },
  'POST /operations/:id/abort': {
    id: 'abortOperation',
    summary: 'Ends an operation after its present slice; what is done stays done',
    answer: operation,
    audit: 'operation.abort',
  },
})
