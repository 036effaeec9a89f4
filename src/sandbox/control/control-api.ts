import { json, Router } from 'express'
import { z } from 'zod'
import { UpshotError } from '../../core/errors.ts'
import { STORAGES } from '../../core/service/storage.ts'
import { describeOpenapi } from '../files-api/openapi.ts'
import { answerErrors } from '../http/api-error.ts'
import type { SandboxParts } from '../service/sandbox-parts.ts'
import { controlRoutes, type Route } from './routes.ts'

const storageName = z.enum(STORAGES)

/** The sandbox's methods for other processes: JSON under `/_sandbox`, behind the guards. */
export function controlApi(parts: SandboxParts, origins: () => { api: string; download: string }): Router {
  const router = Router()
  // The body of a PUT is file content; every other body is JSON.
  router.use(json({ limit: '1mb', strict: false, type: (request) => request.method !== 'PUT' }))
  // The document itself, without an envelope: tools read it by its address.
  router.get('/openapi', (_request, response) => void response.json(describeOpenapi(`${origins().api}/v1`)))
  for (const [name, route] of Object.entries(controlRoutes(parts, origins))) addRoute(router, name, route)
  router.use(() => {
    throw new UpshotError('not_found', 'The control API has no such path.')
  })
  router.use(answerErrors(parts.log))
  return router
}

function addRoute(router: Router, name: string, route: Route): void {
  const [method = '', path = ''] = name.split(' ')
  router[method.toLowerCase() as 'get' | 'post' | 'patch' | 'put' | 'delete'](path, async (request, response) => {
    const data = await route({
      id: String(request.params.id ?? ''),
      storage: () => storageName.parse(request.params.storage),
      query: request.query,
      body: request.body ?? {},
      content: request,
    })
    response.json({ success: true, data: data ?? null })
  })
}
