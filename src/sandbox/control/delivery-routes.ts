import { z } from 'zod'
import type { SandboxParts } from '../service/sandbox-parts.ts'
import type { Routes } from './routes.ts'

const deliveryQuery = z.object({
  eventId: z.string().optional(),
  webhookId: z.string().optional(),
  type: z.string().optional(),
  state: z.enum(['pending', 'sending', 'delivered', 'failed']).optional(),
  limit: z.coerce.number().int().min(1).optional(),
})
const eventQuery = z.object({ type: z.string().optional(), since: z.coerce.number().int().min(0).optional() })
const eventInput = z.strictObject({ type: z.string().min(1), data: z.record(z.string(), z.unknown()) })

/** Events and their deliveries. */
export function deliveryRoutes({ events, deliveries }: SandboxParts): Routes {
  return {
    'GET /events': ({ query }) => events.list(eventQuery.parse(query)),
    'POST /events': ({ body }) => {
      const { type, data } = eventInput.parse(body)
      return events.emit(type, data)
    },
    'POST /events/:id/resend': ({ id }) => deliveries.resend(id),
    'GET /deliveries': ({ query }) => {
      const { limit, ...filter } = deliveryQuery.parse(query)
      return limit === undefined ? deliveries.list(filter) : deliveries.newest(limit, filter)
    },
  }
}
