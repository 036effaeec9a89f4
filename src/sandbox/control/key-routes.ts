import { z } from 'zod'
import { keyInput, keyScope } from '../account/api-keys.ts'
import type { SandboxParts } from '../service/sandbox-parts.ts'
import type { Routes } from './routes.ts'

const keyEdit = z.strictObject({ name: z.string().min(1).max(100).optional(), scope: keyScope.optional() })

export function keyRoutes({ keys }: SandboxParts): Routes {
  return {
    'GET /keys': () => keys.list(),
    'POST /keys': ({ body }) => keys.create(keyInput.parse(body)),
    'PATCH /keys/:id': ({ id, body }) => keys.edit(id, keyEdit.parse(body)),
    'DELETE /keys/:id': ({ id }) => keys.revoke(id),
  }
}
