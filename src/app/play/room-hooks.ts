import dgram from 'node:dgram'
import { subscribe } from 'node:diagnostics_channel'
import dns from 'node:dns'
import http from 'node:http'
import http2 from 'node:http2'
import https from 'node:https'
import inspector from 'node:inspector'
import { syncBuiltinESMExports } from 'node:module'
import net from 'node:net'
import os from 'node:os'
import sqlite from 'node:sqlite'
import { UpshotError } from '../../core/errors.ts'
import { replaceTimeAndChance } from '../../engine/pass/outside/replace-time-and-chance.ts'
import { describeUndeclared, findUndeclared, type UndeclaredEffect } from '../../engine/pass/outside/undeclared.ts'
import { type CurrentStep, stepAtWork } from '../../engine/pass/scope.ts'

// Loaded before all other code of a room. Node's permission model refuses files, processes,
// threads and addons; these hooks refuse the ways out that it does not know.

type Call = (...given: never[]) => unknown
type Owner = Record<string, unknown>

let refused: UndeclaredEffect[] = []
const sockets = new WeakMap<CurrentStep, Set<net.Socket>>()

/** The refused calls of a run, or of loading modules (null), since the last call for it. */
function takeRefused(run: string | null): UndeclaredEffect[] {
  const taken = refused.filter((each) => each.run === run)
  refused = refused.filter((each) => each.run !== run)
  return taken
}

/** The call that is made now, noted as refused; null where a step declares it. */
function note(call: string, method?: string | null): UndeclaredEffect | null {
  const found = findUndeclared(call, method)
  if (found !== null) refused.push(found)
  return found
}

/** Throws where nothing declares the call. */
function ask(call: string, method?: string | null): void {
  const found = note(call, method)
  if (found === null) return
  const place = found.place === null ? '' : ` at ${found.place}`
  throw new UpshotError('undeclared_effect', `${describeUndeclared(found)} is refused${place}.`)
}

function replace(owner: object, name: string, wrap: (real: Call) => Call): void {
  const holder = owner as Owner
  const real = holder[name]
  if (typeof real === 'function') holder[name] = wrap(real as Call)
}

/** Refuses a function wherever it is called, even in a step that reads. */
function refuse(owner: object, names: readonly string[], of: string): void {
  for (const name of names) {
    replace(owner, name, () => () => ask(`${of}${name}`))
  }
}

/** A function that a read may call. */
function askBefore(owner: object, name: string, call: string): void {
  replace(
    owner,
    name,
    (real) =>
      function (this: unknown, ...given) {
        ask(call, null)
        return real.apply(this, given)
      },
  )
}

/** A pooled connection opens no new one, so each request is asked as well. */
function askRequests(module: object, of: string): void {
  for (const name of ['request', 'get']) {
    replace(
      module,
      name,
      (real) =>
        function (this: unknown, ...given) {
          const method = readMethod(given)
          ask(`${of} ${method}`, method)
          return real.apply(this, given)
        },
    )
  }
}

/** Later arguments override earlier ones, as options do with an address. */
function readMethod(given: readonly unknown[]): string {
  const methods = given.map((each) => (typeof each === 'object' ? (each as { method?: unknown } | null)?.method : null))
  return (methods.findLast((method) => typeof method === 'string') ?? 'GET').toUpperCase()
}

function hookRequests(): void {
  askRequests(http, 'http')
  askRequests(https, 'https')
  // `http.request` makes its own, which this one does not meet.
  http.ClientRequest = new Proxy(http.ClientRequest, {
    construct(real, given, target) {
      const method = readMethod(given)
      ask(`http ${method}`, method)
      return Reflect.construct(real, given, target)
    },
  })
  refuse(http2, ['connect'], 'http2.')
  replace(globalThis, 'fetch', (real) => async (...given: never[]) => {
    const method = readMethod(given)
    ask(`fetch ${method}`, method)
    return real(...given)
  })
  for (const name of ['WebSocket', 'EventSource'] as const) {
    const refusing = class {
      constructor() {
        ask(name)
      }
    }
    Object.defineProperty(globalThis, name, { value: refusing, configurable: true, writable: true })
  }
}

function hookConnections(): void {
  replace(
    net.Socket.prototype,
    'connect',
    (real) =>
      function (this: net.Socket, ...given) {
        ask('connect', null)
        closeWithStep(this)
        return real.apply(this, given)
      },
  )
  refuse(net.Server.prototype, ['listen'], 'net.Server.')
  refuse(dgram.Socket.prototype, ['send', 'connect', 'bind', 'addMembership'], 'dgram.')
  // A connection looks its host up, so a read may.
  for (const module of [dns, dns.promises]) askBefore(module, 'lookup', 'dns.lookup')
  const queries = (module: object) =>
    Object.keys(module).filter((name) => /^(resolve|reverse|lookupService)/.test(name))
  refuse(dns, queries(dns), 'dns.')
  refuse(dns.promises, queries(dns.promises), 'dns.promises.')
  refuse(dns.Resolver.prototype, queries(dns.Resolver.prototype), 'dns.Resolver.')
  refuse(dns.promises.Resolver.prototype, queries(dns.promises.Resolver.prototype), 'dns.promises.Resolver.')
}

/** The connections of a step end with it. */
function closeWithStep(socket: net.Socket): void {
  const step = stepAtWork()
  if (step === null) return
  const open = sockets.get(step) ?? new Set()
  sockets.set(step, open.add(socket))
  step.onOver = () => {
    for (const each of open) each.destroy()
  }
}

/** Ways out of this process that the permission model of Node leaves open. */
function hookProcess(): void {
  const names = ['kill', '_kill', 'exit', 'reallyExit', 'abort', 'chdir', 'setuid', 'setgid', 'seteuid', 'setegid']
  refuse(
    process,
    [...names, 'setgroups', 'initgroups', 'umask', '_debugProcess', '_debugEnd', 'disconnect'],
    'process.',
  )
  refuse(process, ['send'], 'process.')
  // Node refuses addons as well, and publishes nothing then.
  replace(process, 'dlopen', () => () => ask('native addon'))
  refuse(process.report, ['writeReport'], 'process.report.')
  refuse(os, ['setPriority'], 'os.')
  refuse(inspector, ['open'], 'inspector.')
  // A session reads the variables of any function, so it would find what the hooks have replaced.
  refuse(inspector.Session.prototype, ['connect', 'connectToMainThread'], 'inspector.Session.')
}

type Authorize = Parameters<sqlite.DatabaseSync['setAuthorizer']>[0]

/** Files that databases write: those opened, and those that a statement or a backup makes. */
function hookDatabases(): void {
  const Real = sqlite.DatabaseSync
  const { SQLITE_ATTACH, SQLITE_DENY, SQLITE_OK } = sqlite.constants
  class AskingDatabase extends Real {
    constructor(...given: ConstructorParameters<typeof Real>) {
      const [path, options] = given
      if (path !== ':memory:' && options?.readOnly !== true) ask('sqlite')
      super(...given)
      if (this.isOpen) this.setAuthorizer(null)
    }

    override open(): void {
      super.open()
      this.setAuthorizer(null)
    }

    /** Asks about files before the author's own function. `VACUUM INTO` attaches its file, too. */
    override setAuthorizer(own: Authorize): void {
      super.setAuthorizer((action, ...about) => {
        const isFile = action === SQLITE_ATTACH && about[0] !== '' && about[0] !== ':memory:'
        if (isFile && note('sqlite') !== null) return SQLITE_DENY
        return own === null ? SQLITE_OK : own(action, ...about)
      })
    }
  }
  Object.defineProperty(sqlite, 'DatabaseSync', { value: AskingDatabase, configurable: true, writable: true })
  refuse(sqlite, ['backup'], 'sqlite.')
}

/** The rights that Node refuses by itself, in words. Each has a channel that tells of it. */
const RIGHTS = {
  fs: 'file write',
  child: 'child process',
  worker: 'worker thread',
  inspector: 'inspector',
  wasi: 'WASI',
}

/** Notes the refusals of Node's permission model, but for those of Node's own attempts. */
function noteRefusals(): void {
  for (const [name, call] of Object.entries(RIGHTS)) {
    subscribe(`node:permission-model:${name}`, () => {
      const found = findUndeclared(call)
      if (found !== null && (found.run !== null || found.place !== null)) refused.push(found)
    })
  }
}

/** The ways out that only the room itself uses, and the calls that the hooks refused. */
export const roomHooks = {
  send: process.send?.bind(process),
  connectInspector: inspector.Session.prototype.connect,
  exit: process.exit.bind(process) as (code: number) => void,
  takeRefused,
}

hookRequests()
hookConnections()
hookProcess()
hookDatabases()
noteRefusals()
replaceTimeAndChance()
syncBuiltinESMExports()
