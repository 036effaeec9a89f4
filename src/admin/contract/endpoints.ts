import { z } from 'zod'
import { type RouteTable, time } from './route.ts'

const secret = z.object({
  position: z.int(),
  activeFrom: time(),
  until: time().nullable(),
  lastUsedAt: time().nullable().describe('Exact to the minute; null: never.'),
})

const endpoint = z
  .object({
    id: z.string(),
    name: z.string(),
    path: z.string().describe('Path of its URL, `/hooks/…`, behind the address of the receiver.'),
    account: z.string(),
    events: z.array(z.string()),
    status: z.enum(['active', 'learning', 'disabled']),
    scheme: z.object({
      algorithm: z.string(),
      encoding: z.string(),
      header: z.string(),
      grammar: z.string(),
      signed: z.string(),
      secret: z.string().describe('How the secret is written.'),
    }),
    createdAt: time(),
    revision: z.int(),
    secrets: z.array(secret).describe('By position; never their values.'),
    captures: z.int().describe('Deliveries kept while it learns.'),
  })
  .meta({ id: 'Endpoint' })

export const ENDPOINT_ROUTES = {
  'GET /endpoints': {
    id: 'listEndpoints',
    tag: 'endpoints',
    summary: 'All endpoints, oldest first',
    role: 'viewer',
    answer: z.object({ items: z.array(endpoint) }),
  },
  'GET /endpoints/:name': {
    id: 'getEndpoint',
    tag: 'endpoints',
    summary: 'One endpoint',
    role: 'viewer',
    answer: endpoint,
  },
} as const satisfies RouteTable
