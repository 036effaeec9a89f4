import { z } from 'zod'
import type { SandboxParts } from '../service/sandbox-parts.ts'
import type { Routes } from './routes.ts'

const resetInput = z.strictObject({ keepAccess: z.boolean().default(false) })

export function snapshotRoutes({ snapshots }: SandboxParts): Routes {
  return {
    'GET /snapshots': () => snapshots.list(),
    'PUT /snapshots/:id': ({ id }) => snapshots.save(id),
    'POST /snapshots/:id/restore': ({ id }) => snapshots.restore(id),
    'POST /reset': ({ body }) => snapshots.reset(resetInput.parse(body)),
  }
}
