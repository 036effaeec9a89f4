import type { SandboxParts } from '../service/sandbox-parts.ts'
import { transferInput } from '../transfers/plan-transfer.ts'
import type { Routes } from './routes.ts'

export function transferRoutes({ transfers }: SandboxParts): Routes {
  return {
    'GET /transfers': () => transfers.list(),
    'GET /transfers/:id': ({ id }) => transfers.get(id),
    'POST /transfers': async ({ body }) => {
      const { done, ...record } = await transfers.start(transferInput.parse(body))
      return record
    },
    'POST /transfers/:id/cancel': ({ id }) => transfers.cancel(id),
  }
}
