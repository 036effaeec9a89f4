import { json, Router } from 'express'
import { UpshotError } from '../../core/errors.ts'
import { describeOpenapi } from '../files-api/openapi.ts'
import { answerErrors } from '../http/api-error.ts'
import type { SandboxParts } from '../service/sandbox-parts.ts'
import { auditRoutes } from './audit-routes.ts'
import { clockRoutes } from './clock-routes.ts'
import { deliveryRoutes } from './delivery-routes.ts'
import { faultRoutes } from './fault-routes.ts'
import { keyRoutes } from './key-routes.ts'
import { answerRoute, type Route, type Routes } from './routes.ts'
import { settingsRoutes } from './settings-routes.ts'
import { snapshotRoutes } from './snapshot-routes.ts'
import { stateRoutes } from './state-routes.ts'
import { storageRoutes } from './storage-routes.ts'
import { transferRoutes } from './transfer-routes.ts'
import { webhookRoutes } from './webhook-routes.ts'

/** The sandbox's methods for other processes: JSON under `/_sandbox`, behind the guards. */
export function controlApi(parts: SandboxParts, origins: () => { api: string; download: string }): Router {
  const router = Router()
  // The body of a PUT is file content; every other body is JSON.
  router.use(json({ limit: '1mb', strict: false, type: (request) => request.method !== 'PUT' }))
  const routes: Routes = {
    ...stateRoutes(parts, origins),
    ...settingsRoutes(parts),
    ...keyRoutes(parts),
    ...webhookRoutes(parts),
    ...deliveryRoutes(parts),
    ...storageRoutes(parts),
    ...transferRoutes(parts),
    ...faultRoutes(parts),
    ...auditRoutes(parts),
    ...snapshotRoutes(parts),
    ...clockRoutes(parts),
  }
  // The document itself, without an envelope: tools read it by its address.
  router.get('/openapi', (_request, response) => void response.json(describeOpenapi(`${origins().api}/v1`)))
  for (const [name, route] of Object.entries(routes)) addRoute(router, name, route)
  router.use(() => {
    throw new UpshotError('not_found', 'The control API has no such path.')
  })
  router.use(answerErrors(parts.log))
  return router
}

function addRoute(router: Router, name: string, route: Route): void {
  const [method = '', path = ''] = name.split(' ')
  router[method.toLowerCase() as 'get' | 'post' | 'patch' | 'put' | 'delete'](path, answerRoute(route))
}
