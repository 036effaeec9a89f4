import type { StorageName } from '../../../core/service/storage.ts'
import { isoTime } from '../../../core/time.ts'
import type { Caller } from '../../access/caller.ts'
import type { SANDBOX_ROUTES } from '../../contract/resources/service/sandbox.ts'
import type { AnswerOf } from '../../contract/routes.ts'
import type { Handlers } from '../../perform/handler.ts'
import type { SandboxCall } from '../../ports/surroundings.ts'
import { type ResourceParts, recordAction } from '../parts.ts'

type SandboxRoute = keyof typeof SANDBOX_ROUTES
type State = AnswerOf<'GET /sandbox'>
type Transfer = State['transfers'][number]

/** Transfers that are listed. */
const MAX_TRANSFERS = 20

interface OwnClock {
  now: number
  mode: State['clock']['mode']
}

/** A transfer as the sandbox tells of it. */
interface OwnTransfer {
  id: string
  type: Transfer['type']
  source: { service: StorageName; path: string }
  destination: { service: StorageName; path: string }
  status: string
  filesTotal: number
  filesDone: number
  bytesTotal: number
  bytesDone: number
  startedAt: string | null
  finishedAt: string | null
  error?: { message: string }
}

interface OwnState extends Pick<State, 'settings' | 'storages' | 'deliveries'> {
  now: string
  clock: OwnClock['mode']
}

/** The control of the sandbox, passed on to it, with an audit row before each change. */
export function sandboxHandlers(parts: ResourceParts): Handlers<SandboxRoute> {
  const { sandbox } = parts.surroundings
  /** The body stays out of the audit log: it may be a payload. */
  const change = async <Answer>(actor: { caller: Caller; body?: unknown }, call: SandboxCall): Promise<Answer> => {
    const action = {
      action: 'sandbox.change',
      target: call.path.split('?')[0] ?? '',
      parameters: { method: call.method },
    }
    await recordAction(parts, actor, action, 'begun')
    return sandbox.ask<Answer>(call)
  }
  return {
    async 'GET /sandbox'({ signal }) {
      const get = <Answer>(path: string) => sandbox.ask<Answer>({ method: 'GET', path, signal })
      const { now, clock, settings, storages, deliveries } = await get<OwnState>('/state')
      const faults = await get<State['faults']>('/faults')
      const transfers = await get<OwnTransfer[]>('/transfers')
      return {
        url: sandbox.url(),
        clock: { now, mode: clock },
        ...{ settings, deliveries, faults },
        storages: storages.map(({ name, files, bytes }) => ({ name, files, bytes })),
        transfers: transfers.slice(-MAX_TRANSFERS).toReversed().map(describeTransfer),
      }
    },
    async 'POST /sandbox/clock/advance'({ caller, body }) {
      const { by } = body
      return describeClock(await change({ caller, body }, { method: 'POST', path: '/clock/advance', body: { by } }))
    },
    async 'POST /sandbox/clock/real'({ caller, body }) {
      return describeClock(await change({ caller, body }, { method: 'POST', path: '/clock/real', body: {} }))
    },
    async 'POST /sandbox/faults'({ caller, body }) {
      const { reason: _, ...rule } = body
      return change({ caller, body }, { method: 'POST', path: '/faults', body: rule })
    },
    async 'DELETE /sandbox/faults/:id'({ caller, params, query }) {
      await change({ caller, body: query }, { method: 'DELETE', path: `/faults/${encodeURIComponent(params.id)}` })
      return undefined
    },
    async 'POST /sandbox/events'({ caller, body }) {
      const { type, data } = body
      const call = { method: 'POST', path: '/events', body: { type, data } }
      const { id } = await change<{ id: string }>({ caller, body }, call)
      return { event: id }
    },
    async 'POST /sandbox/events/:id/resend'({ caller, body, params }) {
      const path = `/events/${encodeURIComponent(params.id)}/resend`
      const sent = await change<unknown[]>({ caller, body }, { method: 'POST', path, body: {} })
      return { deliveries: sent.length }
    },
    async 'POST /sandbox/transfers'({ caller, body }) {
      const { from, to, existing, failAt } = body
      const ends = { from: [from.storage, from.path], to: [to.storage, to.path] }
      const call = { method: 'POST', path: '/transfers', body: { ...ends, existing, failAt } }
      return describeTransfer(await change({ caller, body }, call))
    },
    async 'POST /sandbox/transfers/:id/cancel'({ caller, body, params }) {
      const path = `/transfers/${encodeURIComponent(params.id)}/cancel`
      await change({ caller, body }, { method: 'POST', path, body: {} })
      return undefined
    },
    async 'PUT /sandbox/files/:storage'({ caller, body, params }) {
      const path = `/storages/${encodeURIComponent(params.storage)}/content?${new URLSearchParams({ path: body.path })}`
      const call = { method: 'PUT', path, content: body.text }
      const { id, path: written } = await change<{ id: string; path: string }>({ caller, body }, call)
      return { id, path: written }
    },
    async 'PATCH /sandbox/settings'({ caller, body }) {
      return change({ caller, body }, { method: 'PATCH', path: '/settings', body: body.settings })
    },
  }
}

function describeClock({ now, mode }: OwnClock) {
  return { now: isoTime(now), mode }
}

function describeTransfer({ id, type, source, destination, status, error, ...rest }: OwnTransfer): Transfer {
  return {
    ...{ id, type, status },
    from: { storage: source.service, path: source.path },
    to: { storage: destination.service, path: destination.path },
    files: { done: rest.filesDone, total: rest.filesTotal },
    bytes: { done: rest.bytesDone, total: rest.bytesTotal },
    error: error?.message ?? null,
    startedAt: rest.startedAt,
    finishedAt: rest.finishedAt,
  }
}
