import { subscribe, unsubscribe } from 'node:diagnostics_channel'
import type { Publish } from '../../../core/notices.ts'
import { findCreator } from '../find-call-place.ts'
import { currentPass } from '../scope.ts'
import { findPast, findUndeclared } from './undeclared.ts'

/** Most calls that the passes of one worker tell. */
const MAX_TOLD = 1_000

const told = new WeakMap<Publish, Set<string>>()
let watchers = 0

/** Channels of Node with the name of what they tell of. A connection has no method. */
const CHANNELS: Record<string, (message: unknown) => void> = {
  'undici:request:create': (message) => look('fetch', methodOf(message), originOf(message)),
  'http.client.request.created': (message) => look('http', methodOf(message), hostOf(message)),
  'net.client.socket': () => look('connect', null),
}

/**
 * Begins to tell requests and connections that authors' code makes where nothing declares them. It
 * sees them, and holds none. The result ends that.
 */
export function watchEffects(): () => void {
  watchers += 1
  if (watchers === 1) for (const [name, listen] of Object.entries(CHANNELS)) subscribe(name, listen)
  let isOver = false
  return () => {
    if (isOver) return
    isOver = true
    watchers -= 1
    if (watchers === 0) for (const [name, listen] of Object.entries(CHANNELS)) unsubscribe(name, listen)
  }
}

function methodOf(message: unknown): string {
  return String((message as { request?: { method?: unknown } }).request?.method ?? 'GET')
}

function originOf(message: unknown): string | null {
  const { origin } = (message as { request?: { origin?: unknown } }).request ?? {}
  return URL.parse(String(origin))?.host ?? null
}

/** Without the port where it is that of the protocol, as in a URL. */
function hostOf(message: unknown): string | null {
  const { request } = message as { request?: { getHeader?: (name: string) => unknown } }
  return String(request?.getHeader?.('host') ?? '') || null
}

function look(kind: string, method: string | null, host: string | null = null): void {
  const pass = currentPass()
  if (pass?.tellsEffects !== true) return
  const call = method === null ? kind : `${kind} ${method}`
  const undeclared = findUndeclared(call, method)
  const isPast = host !== null && pass.isServiceHost?.(host) === true
  // A step that declares an effect may have it here.
  const found = undeclared === null || undeclared.where === 'in_effect' ? isPast && findPast(call) : undeclared
  if (!found || findCreator().isOurs) return
  const { publish, run } = pass
  const known = told.get(publish) ?? new Set()
  told.set(publish, known)
  // The connection of a request is no second call.
  const { step, where, place } = found
  const key = JSON.stringify([run.workflow, step, where, place])
  if (known.has(key) || known.size >= MAX_TOLD) return
  known.add(key)
  publish({ kind: 'code.undeclared', run: run.lease.runId, workflow: run.workflow, call, step, where, place })
}
