import { AsyncLocalStorage } from 'node:async_hooks'
import childProcess from 'node:child_process'
import { subscribe, unsubscribe } from 'node:diagnostics_channel'
import { syncBuiltinESMExports } from 'node:module'
import net from 'node:net'
import { keepOwnDelete } from '../../../core/access/own-delete.ts'
import type { CallingRun, OutsideCall } from '../../../core/safety/ledger/outside-act.ts'
import type { OutsideWatch } from '../../worker-parts.ts'
import type { Pass } from '../pass.ts'
import { currentPass } from '../scope.ts'

const loading = new AsyncLocalStorage<OutsideWatch>()
let watchers = 0
let isHooked = false

/** Channels of Node, and the calls that their messages tell of. */
const CHANNELS: Record<string, (message: unknown) => void> = {
  'undici:request:create': (message) => look({ way: 'fetch', method: methodOf(message), host: originOf(message) }),
  'http.client.request.created': (message) => look({ way: 'http', method: methodOf(message), host: hostOf(message) }),
  'http2.client.stream.created': (message) => look({ way: 'http2', ...readPseudo(message) }),
  'udp.socket': () => look({ way: 'udp' }),
  child_process: () => look({ way: 'child process' }),
  worker_threads: () => look({ way: 'worker thread' }),
}

/** Loads modules: what their code does meanwhile, or later by itself, is told as theirs. */
export function loadWatched<T>(outside: OutsideWatch, load: () => T): T {
  return loading.run(outside, load)
}

/**
 * Begins to see what authors' code does outside, for the `outside` of each pass. It holds no call
 * but a delete by a client of the code's own. The result ends that.
 */
export function watchEffects(): () => void {
  hookOnce()
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

/** Node has no channel for these calls. */
function hookOnce(): void {
  if (isHooked) return
  isHooked = true
  keepOwnDelete((host) => {
    const pass = currentPass()
    if (pass) pass.outside?.askDelete(callerOf(pass), host)
  })
  lookBefore(net.Socket.prototype, 'connect', (given) => ({ way: 'connect', method: null, host: readAddress(given) }))
  for (const name of ['spawnSync', 'execSync', 'execFileSync'])
    lookBefore(childProcess, name, () => ({ way: 'child process' }))
  syncBuiltinESMExports()
}

function lookBefore(owner: object, name: string, describe: (given: readonly unknown[]) => OutsideCall): void {
  const holder = owner as Record<string, (...given: unknown[]) => unknown>
  const real = holder[name]
  if (real === undefined) return
  holder[name] = function (this: unknown, ...given) {
    if (watchers > 0) look(describe(given))
    return real.apply(this, given)
  }
}

function look(call: OutsideCall): void {
  const pass = currentPass()
  const outside = pass === null ? loading.getStore() : pass.outside
  outside?.see(pass && callerOf(pass), call)
}

function callerOf({ run }: Pass): CallingRun {
  return { run: run.lease.runId, workflow: run.workflow }
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

function readPseudo(message: unknown): { method: string; host: string | null } {
  const { headers = {} } = message as { headers?: Record<string, unknown> }
  const { ':method': method = 'GET', ':authority': host = null } = headers
  return { method: String(method), host: host === null ? null : String(host) }
}

/** The arguments are options, a port and a host, or a list that Node has made of them. */
function readAddress(given: readonly unknown[]): string | null {
  const [first, second] = Array.isArray(given[0]) ? (given[0] as unknown[]) : given
  const options = typeof first === 'object' && first !== null ? (first as Record<string, unknown>) : null
  const port = Number(options === null ? first : options.port)
  if (!Number.isInteger(port)) return null
  const host = String((options === null ? typeof second === 'string' && second : options.host) || 'localhost')
  return port === 443 || port === 80 ? host : `${host.includes(':') ? `[${host}]` : host}:${port}`
}
