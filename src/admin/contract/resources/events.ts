import { z } from 'zod'
import { MATCH_CLAUSES, MATCH_FATES } from '../../../core/incoming/event-match.ts'
import { dataNote, defineRoutes, isDryRun, moment, pageOf, paging, time } from '../route.ts'
import { delivery } from './deliveries.ts'
import { operation, perSecond } from './operations.ts'
import { run, stepDetails } from './runs.ts'

export const event = z
  .object({
    id: z.string(),
    seq: z.int().describe('Number in the order of arrival.'),
    account: z.string(),
    type: z.string(),
    origin: z.enum(['webhook', 'send', 'reconcile']),
    subject: z.string().nullable().describe('Its file or transfer; null for a viewer, who sees no payload.'),
    createdAt: time().describe('When the service made it.'),
    receivedAt: time(),
    bodyBytes: z.int(),
    isPruned: z.boolean().describe('True once retention removed the body.'),
  })
  .meta({ id: 'Event' })

const account = z.string().optional().describe('Needed where two accounts share the id.')

const eventFilter = {
  q: z.string().max(500).optional().describe('Words to find in the body; not for a viewer.'),
  type: z.string().optional().describe('A type, or a family such as `file.*`.'),
  account: z.string().optional().describe('Only events of this account.'),
  path: z
    .string()
    .regex(/^(?:[\w-]+:)?\/./)
    .optional()
    .describe('Such as `storage_a:/in/a.pdf`, with or without storage; `*` at its end is any rest.'),
  since: moment.optional(),
  until: moment.optional(),
}

const oneEvent = z
  .object({
    ...event.shape,
    subjects: z.array(z.string()).describe('Files and ids that it tells of, 20 at most; none for a viewer.'),
    data: z.unknown().describe('The `data` of its body; masked by type for a viewer. Null above 64 KiB.'),
    dataNote,
    deliveries: z.array(delivery).describe('Newest first, at most 200.'),
    runs: z.array(run).describe('Newest first, at most 200.'),
    absorbers: z.array(run).describe('Runs of other events that its folded runs are a part of.'),
  })
  .meta({ id: 'OneEvent' })

const match = z
  .object({
    workflow: z.string(),
    file: z.string(),
    fate: z
      .enum(MATCH_FATES)
      .describe('Of its run; `waits`: for the end of a pause, `halts`: for a person. `ignored`: there is none.'),
    clauses: z
      .array(z.object({ name: z.enum(MATCH_CLAUSES), fits: z.boolean(), says: z.string() }))
      .describe('In the order in which they are asked; the first that does not fit is the last.'),
  })
  .meta({ id: 'WorkflowMatch' })

const traceNode = z
  .object({
    id: z.string(),
    parent: z.string().nullable().describe('Id of the node that caused it; null for the first event.'),
    cause: z
      .enum(['started', 'invoked', 'sent', 'absorbed', 'replayed', 'forked', 'failed', 'continued'])
      .nullable()
      .describe(
        'How it came from its parent; `absorbed`: its parent was folded into it; `failed`: a run of `onFailure`.',
      ),
    step: z.string().nullable().describe('Key of the step that invoked or sent it.'),
    event: event.nullable(),
    run: run.nullable(),
    steps: z.array(stepDetails).nullable().describe('Of a run, where they are asked for: of the first 5,000 steps.'),
    isCut: z.boolean().describe('True when it has more children than are here.'),
  })
  .meta({ id: 'TraceNode' })

export const EVENT_ROUTES = defineRoutes({
  'GET /events': {
    id: 'listEvents',
    summary: 'Events, newest first',
    query: { ...eventFilter, ...paging },
    answer: pageOf(event),
    isSearch: true,
  },
  'GET /events/export': {
    id: 'exportEvents',
    noTool: 'bytes',
    summary: 'Events with their data as lines of JSON, newest first; without pruned ones, and types of our own',
    role: 'operator',
    query: eventFilter,
    answer: z.unknown(),
    form: 'bytes',
    isSearch: true,
  },
  'GET /events/drifts': {
    id: 'listDrifts',
    summary: 'Events that changed the shape of their type when they came, newest first, 10 of a type',
    query: { since: moment.optional() },
    answer: z.object({
      items: z.array(
        z.object({
          type: z.string(),
          account: z.string(),
          event: z.string(),
          at: time(),
          changes: z.array(z.string()).describe('Such as `data.file.size: text, was integer`; no value of it.'),
        }),
      ),
    }),
  },
  'GET /events/:id': {
    id: 'getEvent',
    summary: 'An event with its data, deliveries and runs',
    query: { account },
    answer: oneEvent,
  },
  'GET /events/:id/data': {
    id: 'readEventData',
    role: 'operator',
    summary: 'The data of an event as text of JSON, whatever its size, in parts',
    query: {
      account,
      limit: z.coerce.number().int().min(1).max(1_000_000).default(20_000).describe('The most characters of one part.'),
      after: z.coerce.number().int().min(0).default(0).describe('Characters that other parts had.'),
    },
    answer: z.object({
      text: z.string().describe('`null` once it is pruned.'),
      next: z.int().nullable().describe('Value of `after` for the next part; null: there is none.'),
    }),
  },
  'GET /events/:id/redacted': {
    id: 'redactEvent',
    summary: 'The type and data of an event with other texts of the same form, to show it to others',
    role: 'operator',
    query: { account },
    answer: z.object({ type: z.string(), data: z.unknown().describe('Null once it is pruned.') }),
    isSearch: true,
  },
  'GET /events/:id/trace': {
    id: 'traceEvent',
    summary: 'Everything that goes back to an event: runs, runs that they invoked, events that they sent',
    query: { account, steps: z.enum(['true']).optional().describe('Also tells the steps of the runs.') },
    answer: z.object({
      nodes: z.array(traceNode).describe('Nearest first, 500 at most; each parent before its children.'),
      isComplete: z.boolean().describe('False where a node is cut.'),
    }),
    isSearch: true,
  },
  'POST /events': {
    id: 'sendEvent',
    summary: 'Signs an event of your own and posts it to the receiver, as the service does',
    body: {
      type: z.string().max(100).describe('Words with dots between them, such as `order.placed`.'),
      data: z.record(z.string(), z.unknown()).describe('The `data` of the event.'),
      id: z.string().max(200).optional().describe('`evt_…`; the same id is stored once. Default: a new one.'),
      created: z.iso.datetime().optional().describe('When it was made: a repeated event has the same. Default: now.'),
      endpoint: z.string().optional().describe('Name of the endpoint. Default: the first one.'),
    },
    answer: z.object({
      event: z.string(),
      verdict: z.string().describe('`accepted`; `duplicate` and `conflict` start nothing.'),
      runs: z.array(z.string()),
    }),
    audit: 'event.send',
    isIdempotent: true,
  },
  'POST /events/match': {
    id: 'matchEvent',
    isSafe: true,
    summary: 'What the workflows of the project would make of an event; starts and stores nothing',
    body: {
      event: z.string().optional().describe('Id of a stored event, or else `type` and `data`, which may have one.'),
      account,
      type: z.string().max(100).optional().describe('Of an event that is not stored.'),
      data: z.record(z.string(), z.unknown()).optional().describe('Of an event that is not stored.'),
      created: z.iso.datetime({ offset: true }).optional().describe('Of an event that is not stored. Default: now.'),
    },
    answer: z.object({
      event: z.string(),
      type: z.string(),
      workflows: z.array(match).describe('Those that start a run first, those that ignore it last.'),
      broken: z.array(z.object({ file: z.string(), message: z.string() })).describe('Modules that cannot be loaded.'),
    }),
    audit: 'event.match',
    isSearch: true,
  },
  'POST /events/replay': {
    id: 'replayEvents',
    isLong: true,
    summary: 'New runs of all events of a filter, as an operation; events received later are left out',
    body: {
      filter: z.strictObject(eventFilter).describe('Selects the events; it names one thing at least.'),
      workflows: z.array(z.string()).min(1).optional().describe('Default: all that their types start now.'),
      perSecond,
      isDryRun,
    },
    answer: operation,
    audit: 'operation.start',
    isIdempotent: true,
    tellsProgress: true,
  },
  'POST /events/:id/replay': {
    id: 'replayEvent',
    summary: 'New runs of a stored event',
    body: {
      account,
      workflows: z.array(z.string()).min(1).optional().describe('Default: all that its type starts.'),
      isDryRun,
    },
    answer: z.object({ event: z.string(), workflows: z.array(z.string()), runs: z.array(run) }),
    audit: 'event.replay',
    isIdempotent: true,
  },
})
