import { z } from 'zod'
import { delivery } from './deliveries.ts'
import { moment, pageOf, paging, type RouteTable, time } from './route.ts'
import { run } from './runs.ts'

export const event = z
  .object({
    id: z.string(),
    seq: z.int().describe('Number in the order of arrival.'),
    account: z.string(),
    type: z.string(),
    origin: z.enum(['webhook', 'send']),
    subject: z.string().nullable().describe('Its file or transfer; null for a viewer, who sees no payload.'),
    createdAt: time().describe('When the service made it.'),
    receivedAt: time(),
    bodyBytes: z.int(),
    isPruned: z.boolean().describe('True once retention removed the body.'),
  })
  .meta({ id: 'Event' })

const oneEvent = z
  .object({
    ...event.shape,
    data: z.unknown().describe('The `data` of its body; masked by type for a viewer. Null above 64 KiB.'),
    deliveries: z.array(delivery).describe('Newest first, at most 200.'),
    runs: z.array(run).describe('Newest first, at most 200.'),
  })
  .meta({ id: 'OneEvent' })

export const EVENT_ROUTES = {
  'GET /events': {
    id: 'listEvents',
    tag: 'events',
    summary: 'Events, newest first',
    role: 'viewer',
    query: z.strictObject({
      q: z.string().max(500).optional().describe('Words to find in the body; not for a viewer.'),
      type: z.string().optional(),
      since: moment.optional(),
      until: moment.optional(),
      ...paging,
    }),
    answer: pageOf(event),
    isSearch: true,
  },
  'GET /events/:id': {
    id: 'getEvent',
    tag: 'events',
    summary: 'An event with its data, deliveries and runs',
    role: 'viewer',
    query: z.strictObject({ account: z.string().optional().describe('Needed where two accounts share the id.') }),
    answer: oneEvent,
  },
} as const satisfies RouteTable
