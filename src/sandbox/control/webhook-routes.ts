import { z } from 'zod'
import type { SandboxParts } from '../service/sandbox-parts.ts'
import { webhookEdit, webhookInput } from '../webhooks/webhooks.ts'
import type { Routes } from './routes.ts'

const backfillInput = z.strictObject({ since: z.coerce.number().int().min(0) })

export function webhookRoutes({ webhooks, deliveries, probe }: SandboxParts): Routes {
  return {
    'GET /webhooks': () => webhooks.list(),
    'POST /webhooks': ({ body }) => webhooks.add(webhookInput.parse(body)),
    'PATCH /webhooks/:id': ({ id, body }) => webhooks.edit(id, webhookEdit.parse(body)),
    'DELETE /webhooks/:id': ({ id }) => webhooks.remove(id),
    'POST /webhooks/:id/backfill': ({ id, body }) => deliveries.backfill(id, backfillInput.parse(body).since),
    'POST /webhooks/:id/probe': ({ id }) => probe(id),
  }
}
