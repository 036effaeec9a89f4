import { json, Router } from 'express'
import { z } from 'zod'
import { UpshotError } from '../../core/errors.ts'
import { STORAGES, type StorageName } from '../../core/service/storage.ts'
import { keyInput, keyScope } from '../account/api-keys.ts'
import { faultInput } from '../faults/fault-rule.ts'
import { describeOpenapi } from '../files-api/openapi.ts'
import { answerErrors } from '../http/api-error.ts'
import { describeState } from '../service/describe-state.ts'
import type { SandboxParts } from '../service/sandbox-parts.ts'
import { someSettings } from '../state/settings.ts'
import { toWireEntry } from '../storage/entry.ts'
import { transferInput } from '../transfers/plan-transfer.ts'
import { webhookEdit, webhookInput } from '../webhooks/webhooks.ts'

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

interface ControlRequest {
  /** The `:id` of the path; empty in a path without one. */
  id: string
  /** The `:storage` of the path. Throws unless it names one of the three storages. */
  storage(): StorageName
  query: unknown
  /** The JSON body; an empty object when there is none. */
  body: unknown
  /** The raw body of a PUT. */
  content: AsyncIterable<Uint8Array>
}

/** Computes the `data` of a reply; undefined becomes null. */
export type Route = (request: ControlRequest) => unknown

type Method = 'GET' | 'POST' | 'PATCH' | 'PUT' | 'DELETE'

const moment = z.coerce.number().int().min(0)
const keyEdit = z.strictObject({ name: z.string().min(1).max(100).optional(), scope: keyScope.optional() })
const advanceInput = z.strictObject({ by: z.union([z.string(), z.number()]) })
const resetInput = z.strictObject({ keepAccess: z.boolean().default(false) })
const backfillInput = z.strictObject({ since: moment })
const contentQuery = z.object({ path: z.string().min(1) })
const folderQuery = z.object({ path: z.string().default('/'), recursive: z.enum(['true', 'false']).default('true') })
const eventQuery = z.object({ type: z.string().optional(), since: moment.optional() })
const eventInput = z.strictObject({ type: z.string().min(1), data: z.record(z.string(), z.unknown()) })
const deliveryQuery = z.object({
  eventId: z.string().optional(),
  webhookId: z.string().optional(),
  type: z.string().optional(),
  state: z.enum(['pending', 'sending', 'delivered', 'failed']).optional(),
  limit: z.coerce.number().int().min(1).optional(),
})

/** Routes by method and path, such as `GET /keys`. */
type Routes = Record<`${Method} ${string}`, Route>

function controlRoutes(parts: SandboxParts, origins: () => { api: string; download: string }): Routes {
  const { clock } = parts
  return {
    'GET /health': () => {
      return { status: 'ok', url: `${origins().api}/v1`, now: clock.now(), clock: clock.mode, pid: process.pid }
    },
    'GET /state': () => describeState(parts, origins()),
    ...routesOfAccount(parts),
    ...routesOfActivity(parts),
  }
}

function routesOfAccount({ settings, keys, webhooks, events, deliveries, audit, probe }: SandboxParts): Routes {
  return {
    'GET /settings': () => settings.get(),
    'PATCH /settings': ({ body }) => settings.update(someSettings.parse(body)),

    'GET /keys': () => keys.list(),
    'POST /keys': ({ body }) => keys.create(keyInput.parse(body)),
    'PATCH /keys/:id': ({ id, body }) => keys.edit(id, keyEdit.parse(body)),
    'DELETE /keys/:id': ({ id }) => keys.revoke(id),

    'GET /webhooks': () => webhooks.list(),
    'POST /webhooks': ({ body }) => webhooks.add(webhookInput.parse(body)),
    'PATCH /webhooks/:id': ({ id, body }) => webhooks.edit(id, webhookEdit.parse(body)),
    'DELETE /webhooks/:id': ({ id }) => webhooks.remove(id),
    'POST /webhooks/:id/backfill': ({ id, body }) => deliveries.backfill(id, backfillInput.parse(body).since),
    'POST /webhooks/:id/probe': ({ id }) => probe(id),

    'GET /events': ({ query }) => events.list(eventQuery.parse(query)),
    'POST /events': ({ body }) => {
      const { type, data } = eventInput.parse(body)
      return events.emit(type, data)
    },
    'POST /events/:id/resend': ({ id }) => deliveries.resend(id),
    'GET /deliveries': ({ query }) => {
      const { limit, ...filter } = deliveryQuery.parse(query)
      return limit === undefined ? deliveries.list(filter) : deliveries.newest(limit, filter)
    },

    'GET /journal': () => audit.requests(),
    'GET /audit': () => audit.findings(),
  }
}

function routesOfActivity({ clock, storages, transfers, faults, audit, limiter, snapshots }: SandboxParts): Routes {
  return {
    'GET /storages': () => STORAGES.map((name) => ({ name, dir: storages[name].dir })),
    'GET /storages/:storage': ({ storage, query }) => {
      const { path, recursive } = folderQuery.parse(query)
      return storages[storage()].listFolder(path, { recursive: recursive === 'true' }).map(toWireEntry)
    },
    'PUT /storages/:storage/content': async ({ storage, query, content }) =>
      toWireEntry(await storages[storage()].put(contentQuery.parse(query).path, content)),
    'DELETE /storages/:storage/content': ({ storage, query }) =>
      storages[storage()].remove(contentQuery.parse(query).path),
    'POST /storages/:storage/rescan': ({ storage }) => storages[storage()].rescan(),

    'GET /transfers': () => transfers.list(),
    'GET /transfers/:id': ({ id }) => transfers.get(id),
    'POST /transfers': async ({ body }) => {
      const { done, ...record } = await transfers.start(transferInput.parse(body))
      return record
    },
    'POST /transfers/:id/cancel': ({ id }) => transfers.cancel(id),

    'GET /faults': () => faults.list(),
    'POST /faults': ({ body }) => faults.add(faultInput.parse(body)),
    'DELETE /faults': () => faults.clear(),
    'DELETE /faults/:id': ({ id }) => faults.remove(id),

    'GET /snapshots': () => snapshots.list(),
    'PUT /snapshots/:id': ({ id }) => snapshots.save(id),
    'POST /snapshots/:id/restore': ({ id }) => snapshots.restore(id),
    'POST /reset': ({ body }) => snapshots.reset(resetInput.parse(body)),

    'GET /clock': () => ({ now: clock.now(), mode: clock.mode }),
    'POST /clock/advance': async ({ body }) => {
      const { by } = advanceInput.parse(body)
      return { now: await clock.advance(by), mode: clock.mode }
    },
    'POST /clock/real': async () => {
      const now = await clock.followMachine()
      // Buckets and notes hold moments of the clock before, which may lie ahead of this one.
      limiter.clear()
      audit.forget()
      return { now, mode: clock.mode }
    },
  }
}
