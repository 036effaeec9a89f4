import express, { type Express } from 'express'
import { controlApi } from './control-api.ts'
import { filesApi } from './files-api/files-api.ts'
import { ApiError, answerErrors, REFUSAL_ASSUMES } from './http/api-error.ts'
import { requireControl, requireHost, tellTime } from './http/guards.ts'
import { accountPagesRouter } from './pages/router.ts'
import type { SandboxParts } from './service/sandbox-parts.ts'

export interface ServerParts {
  service: SandboxParts
  seed: number
  downloadSecret: string
  origins(): { api: string; download: string }
  hosts(): readonly string[]
}

/**
 * The API under `/v1`, the control API under `/_sandbox` and the account's pages, on one origin.
 */
export function apiServer(parts: ServerParts): Express {
  const { service, hosts, origins } = parts
  const app = express()
  app.disable('x-powered-by')
  app.disable('etag')
  app.set('query parser', 'simple')
  app.use(tellTime(service.clock), requireHost(hosts))
  app.use('/v1', filesApi({ ...service, ...parts }))
  app.use(
    '/_sandbox',
    requireControl(() => hosts().map((host) => `http://${host}`)),
  )
  app.use('/_sandbox', controlApi(service, origins))
  app.use(accountPagesRouter(service, () => `${origins().api}/v1`))
  app.use((request) => {
    throw new ApiError(404, 'invalid_request', `There is no endpoint ${request.method} ${request.path}.`)
  })
  // Versions but the first among them.
  app.use(answerErrors(service.log, { assumes: [...REFUSAL_ASSUMES, 'N33'] }))
  return app
}
