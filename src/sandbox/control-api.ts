import { json, type RequestHandler, Router } from 'express'
import { z } from 'zod'
import { UpshotError } from '../core/errors.ts'
import { STORAGES, type StorageName } from '../core/service/storage.ts'
import { keyInput, keyScope } from './account/api-keys.ts'
import { faultInput } from './faults/fault-rule.ts'
import { describeOpenapi } from './files-api/openapi.ts'
import { answerErrors } from './http/api-error.ts'
import { someSettings } from './options.ts'
import { describeState } from './service/describe-state.ts'
import type { SandboxParts } from './service/sandbox-parts.ts'
import { toWireEntry } from './storage/entry.ts'
import { transferInput } from './transfers/plan-transfer.ts'
import { webhookEdit, webhookInput } from './webhooks/webhooks.ts'

const storageName = z.enum(STORAGES)
const filePlace = z.object({ path: z.string().min(1) })
const deliveryFilter = z.object({
  eventId: z.string().optional(),
  webhookId: z.string().optional(),
  type: z.string().optional(),
  state: z.enum(['pending', 'sending', 'delivered', 'failed']).optional(),
})
const mostShown = z.coerce.number().int().min(1).optional()
const folderQuery = z.object({ path: z.string().default('/'), recursive: z.enum(['true', 'false']).default('true') })
const keyEdit = z.strictObject({ name: z.string().min(1).max(100).optional(), scope: keyScope.optional() })
const eventInput = z.strictObject({ type: z.string().min(1), data: z.record(z.string(), z.unknown()) })
const since = z.coerce.number().int().min(0)

/**
 * What the sandbox's own methods do, for other processes: JSON under `/_sandbox`. Guards stand
 * before it.
 */
export function controlApi(sandbox: SandboxParts, origins: () => { api: string; download: string }): Router {
  const router = Router()
  // File content is taken as it comes; everything else is JSON.
  router.use(json({ limit: '1mb', strict: false, type: (request) => request.method !== 'PUT' }))
  const at = (method: 'get' | 'post' | 'patch' | 'put' | 'delete', path: string, run: Route) =>
    router[method](path, answer(run))

  at('get', '/health', () => ({
    status: 'ok',
    url: `${origins().api}/v1`,
    now: sandbox.clock.now(),
    clock: sandbox.clock.mode,
  }))
  at('get', '/state', () => describeState(sandbox, origins()))
  at('get', '/openapi', () => describeOpenapi(`${origins().api}/v1`))
  at('get', '/settings', () => sandbox.settings.get())
  at('patch', '/settings', ({ body }) => sandbox.settings.update(someSettings.parse(body)))

  at('get', '/keys', () => sandbox.keys.list())
  at('post', '/keys', ({ body }) => sandbox.keys.create(keyInput.parse(body)))
  at('patch', '/keys/:id', ({ id, body }) => sandbox.keys.edit(id, keyEdit.parse(body)))
  at('delete', '/keys/:id', ({ id }) => sandbox.keys.revoke(id))

  at('get', '/webhooks', () => sandbox.webhooks.list())
  at('post', '/webhooks', ({ body }) => sandbox.webhooks.add(webhookInput.parse(body)))
  at('patch', '/webhooks/:id', ({ id, body }) => sandbox.webhooks.edit(id, webhookEdit.parse(body)))
  at('delete', '/webhooks/:id', ({ id }) => sandbox.webhooks.remove(id))
  at('post', '/webhooks/:id/backfill', ({ id, body }) =>
    sandbox.deliveries.backfill(id, z.strictObject({ since }).parse(body).since),
  )

  at('get', '/storages', () => STORAGES.map((name) => ({ name, dir: sandbox.storages[name].dir })))
  at('get', '/storages/:storage', ({ storage, query }) => {
    const { path, recursive } = folderQuery.parse(query)
    return sandbox.storages[storage()].listFolder(path, { recursive: recursive === 'true' }).map(toWireEntry)
  })
  at('put', '/storages/:storage/content', async ({ storage, query, content }) =>
    toWireEntry(await sandbox.storages[storage()].put(filePlace.parse(query).path, content)),
  )
  at('delete', '/storages/:storage/content', ({ storage, query }) =>
    sandbox.storages[storage()].remove(filePlace.parse(query).path),
  )
  at('post', '/storages/:storage/rescan', ({ storage }) => sandbox.storages[storage()].rescan())

  at('get', '/transfers', () => sandbox.transfers.list())
  at('get', '/transfers/:id', ({ id }) => sandbox.transfers.get(id))
  at('post', '/transfers', async ({ body }) => {
    const { done, ...record } = await sandbox.transfers.start(transferInput.parse(body))
    return record
  })
  at('post', '/transfers/:id/cancel', ({ id }) => sandbox.transfers.cancel(id))

  at('get', '/events', ({ query }) =>
    sandbox.events.list(z.object({ type: z.string().optional(), since: since.optional() }).parse(query)),
  )
  at('post', '/events', ({ body }) => {
    const { type, data } = eventInput.parse(body)
    return sandbox.events.emit(type, data)
  })
  at('post', '/events/:id/resend', ({ id }) => sandbox.deliveries.resend(id))
  at('get', '/deliveries', ({ query }) => {
    const { limit, ...filter } = deliveryFilter.extend({ limit: mostShown }).parse(query)
    return limit === undefined ? sandbox.deliveries.list(filter) : sandbox.deliveries.newest(limit, filter)
  })

  at('get', '/faults', () => sandbox.faults.list())
  at('post', '/faults', ({ body }) => sandbox.faults.add(faultInput.parse(body)))
  at('delete', '/faults', () => sandbox.faults.clear())
  at('delete', '/faults/:id', ({ id }) => sandbox.faults.remove(id))
  at('get', '/journal', () => sandbox.audit.requests())
  at('get', '/audit', () => sandbox.audit.findings())

  at('post', '/webhooks/:id/probe', ({ id }) => sandbox.probe(id))

  at('get', '/snapshots', () => sandbox.snapshots.list())
  at('put', '/snapshots/:id', ({ id }) => sandbox.snapshots.save(id))
  at('post', '/snapshots/:id/restore', ({ id }) => sandbox.snapshots.restore(id))
  at('post', '/reset', ({ body }) =>
    sandbox.snapshots.reset(z.strictObject({ keepAccess: z.boolean().default(false) }).parse(body)),
  )

  at('get', '/clock', () => ({ now: sandbox.clock.now(), mode: sandbox.clock.mode }))
  at('post', '/clock/real', async () => {
    const now = await sandbox.clock.followMachine()
    // What was said of the time before is not true of this one.
    sandbox.limiter.clear()
    sandbox.audit.forget()
    return { now, mode: sandbox.clock.mode }
  })
  at('post', '/clock/advance', async ({ body }) => {
    const { by } = z.strictObject({ by: z.union([z.string(), z.number()]) }).parse(body)
    return { now: await sandbox.clock.advance(by), mode: sandbox.clock.mode }
  })

  router.use(() => {
    throw new UpshotError('not_found', 'The control API has no such path.')
  })
  router.use(answerErrors(sandbox.log))
  return router
}

interface ControlRequest {
  id: string
  /** Throws `invalid_request` for any name but the three. */
  storage(): StorageName
  query: unknown
  body: unknown
  /** The body where it is no JSON. */
  content: AsyncIterable<Uint8Array>
}
type Route = (request: ControlRequest) => unknown

function answer(run: Route): RequestHandler {
  return async (request, response) => {
    const data = await run({
      id: String(request.params.id ?? ''),
      storage: () => storageName.parse(request.params.storage),
      query: request.query,
      body: request.body ?? {},
      content: request,
    })
    response.json({ success: true, data: data ?? null })
  }
}
