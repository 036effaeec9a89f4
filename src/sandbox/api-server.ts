import express, { type Express } from 'express'
import { filesApi } from './files-api/files-api.ts'
import { ApiError, answerErrors, REFUSAL_ASSUMES } from './http/api-error.ts'
import { lateRouter, requireControl, requireHost, setDate } from './http/guards.ts'
import type { SandboxParts } from './service/sandbox-parts.ts'

interface ServerOptions {
  parts: SandboxParts
  seed: number
  downloadSecret: string
  origins(): { api: string; download: string }
  hosts(): readonly string[]
}

/** Serves the API under `/v1`, the control API under `/_sandbox` and the account pages. */
export function apiServer(options: ServerOptions): Express {
  const { parts, hosts, origins, seed, downloadSecret } = options
  const app = express()
  app.disable('x-powered-by')
  app.disable('etag')
  app.set('query parser', 'simple')
  app.use(setDate(parts.clock), requireHost(hosts))
  app.use('/v1', filesApi({ ...parts, origins, seed, downloadSecret }))
  app.use(
    '/scanner/scans',
    lateRouter(async () => (await import('./control/scanner.ts')).scannerRouter()),
  )
  app.use(
    '/_sandbox',
    requireControl(() => hosts().map((host) => `http://${host}`)),
  )
  app.use(
    '/_sandbox',
    lateRouter(async () => (await import('./control/control-api.ts')).controlApi(parts, origins)),
  )
  const apiUrl = () => `${origins().api}/v1`
  app.use(lateRouter(async () => (await import('./pages/router.ts')).accountPagesRouter(parts, apiUrl)))
  app.use((request) => {
    throw new ApiError(404, 'invalid_request', `There is no endpoint ${request.method} ${request.path}.`)
  })
  // N33: every version but v1 is unknown.
  app.use(answerErrors(parts.log, { assumes: [...REFUSAL_ASSUMES, 'N33'] }))
  return app
}
