import { describeState } from '../service/describe-state.ts'
import type { SandboxParts } from '../service/sandbox-parts.ts'
import type { Routes } from './routes.ts'

export function stateRoutes(parts: SandboxParts, origins: () => { api: string; download: string }): Routes {
  const { clock } = parts
  const url = () => `${origins().api}/v1`
  return {
    'GET /health': () => ({ status: 'ok', url: url(), now: clock.now(), clock: clock.mode }),
    'GET /state': () => describeState(parts, origins()),
  }
}
