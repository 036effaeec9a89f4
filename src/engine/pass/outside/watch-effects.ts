import { subscribe, unsubscribe } from 'node:diagnostics_channel'
import type { Publish } from '../../../core/notices.ts'
import { findCreator } from '../find-call-place.ts'
import { currentPass } from '../scope.ts'
import { findUndeclared } from './undeclared.ts'

/** Most calls that the passes of one worker tell. */
const MAX_TOLD = 1_000

const told = new WeakMap<Publish, Set<string>>()
let watchers = 0

/** Channels of Node with the name of what they tell of. A connection has no method. */
const CHANNELS: Record<string, (message: unknown) => void> = {
  'undici:request:create': (message) => look('fetch', methodOf(message)),
  'http.client.request.created': (message) => look('http', methodOf(message)),
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

function look(kind: string, method: string | null): void {
  const pass = currentPass()
  if (pass?.tellsEffects !== true) return
  const found = findUndeclared(method === null ? kind : `${kind} ${method}`, method)
  // A step that declares an effect may have it here.
  if (!found || found.where === 'in_effect' || findCreator().isOurs) return
  const { publish, run } = pass
  const known = told.get(publish) ?? new Set()
  told.set(publish, known)
  // The connection of a request is no second call.
  const { call, step, where, place } = found
  const key = JSON.stringify([run.workflow, step, where, place])
  if (known.has(key) || known.size >= MAX_TOLD) return
  known.add(key)
  publish({ kind: 'code.undeclared', run: run.lease.runId, workflow: run.workflow, call, step, where, place })
}
