import type { SandboxParts } from '../service/sandbox-parts.ts'
import type { Routes } from './routes.ts'

export function auditRoutes({ audit }: SandboxParts): Routes {
  return {
    'GET /journal': () => audit.requests(),
    'GET /audit': () => audit.findings(),
  }
}
