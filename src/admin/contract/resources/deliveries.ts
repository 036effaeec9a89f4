import { z } from 'zod'
import { VERDICTS, type Verdict } from '../../../core/incoming/delivery.ts'
import { defineRoutes, moment, pageOf, paging, time } from '../route.ts'

const verdict = z.enum(Object.keys(VERDICTS) as [Verdict, ...Verdict[]])

export const delivery = z
  .object({
    id: z.string(),
    endpoint: z.string().nullable().describe('Name of the endpoint; null where the request reached none.'),
    isEndpointRemoved: z.boolean(),
    receivedAt: time(),
    verdict,
    status: z.int().describe('HTTP status of our answer.'),
    eventId: z.string().nullable(),
    eventType: z.string().nullable().describe('Null where no event of it is stored.'),
    subject: z.string().nullable().describe('The file or transfer of its event; null for a viewer.'),
    account: z.string().nullable().optional().describe('Of its event; null where none is stored.'),
    bodyBytes: z.int().nullable(),
    facts: z
      .object({
        skewSeconds: z.number().optional(),
        secret: z.int().optional().describe('Position of the secret that matched.'),
        header: z.string().optional().describe('Header that was missing or malformed.'),
        reason: z.string().optional(),
        retiredAt: z.string().optional().describe('When the secret was retired that signed it, for "old_secret".'),
        answered: z.string().optional().describe('The verdict on a probe of our own.'),
        contentType: z.string().optional(),
        contentLength: z.int().optional(),
      })
      .loose()
      .describe('Computed facts; never a body or a signature.'),
  })
  .meta({ id: 'Delivery' })

export const DELIVERY_ROUTES = defineRoutes({
  'GET /deliveries': {
    id: 'listDeliveries',
    summary: 'The ledger: one row for each request to an endpoint, newest first',
    query: {
      verdict: z
        .string()
        .refine((text) =>
          text.split(',').every((word) => word.trim() === 'refused' || Object.hasOwn(VERDICTS, word.trim())),
        )
        .optional()
        .describe(`Only these verdicts, with commas between them: ${Object.keys(VERDICTS).join(', ')}, or refused.`),
      endpoint: z
        .string()
        .optional()
        .describe('Only deliveries to the endpoint with this name or id, also a removed one.'),
      since: moment.optional(),
      ...paging,
    },
    answer: pageOf(delivery).extend({
      unlisted: z
        .array(z.object({ verdict, dropped: z.int() }))
        .describe('Refusals of the asked verdicts without a row: dropped in a flood, or pruned.'),
    }),
    isSearch: true,
  },
  'GET /deliveries/tallies': {
    id: 'tallyDeliveries',
    summary: 'Refusals by verdict, those without a row included',
    answer: z.object({
      refusals: z.array(z.object({ verdict, listed: z.int(), dropped: z.int().describe('Left no row.') })),
    }),
  },
  'GET /deliveries/:id': {
    id: 'getDelivery',
    summary: 'One request to an endpoint',
    answer: delivery,
  },
})
