import { faultInput } from '../faults/fault-rule.ts'
import type { SandboxParts } from '../service/sandbox-parts.ts'
import type { Routes } from './routes.ts'

export function faultRoutes({ faults }: SandboxParts): Routes {
  return {
    'GET /faults': () => faults.list(),
    'POST /faults': ({ body }) => faults.add(faultInput.parse(body)),
    'DELETE /faults': () => faults.clear(),
    'DELETE /faults/:id': ({ id }) => faults.remove(id),
  }
}
