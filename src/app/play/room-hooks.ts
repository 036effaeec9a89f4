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

/** Throws where nothing declares the call. */
function ask(call: string, method?: string | null): void {
  const found = findUndeclared(call, method)
  if (found === null) return
  refused.push(found)
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

function readMethod(given: readonly unknown[]): string {
  const options = given.find((each) => typeof each === 'object' && each !== null && !(each instanceof URL))
  const { method } = (options ?? {}) as { method?: unknown }
  return (typeof method === 'string' ? method : 'GET').toUpperCase()
}

function hookRequests(): void {
  askRequests(http, 'http')
  askRequests(https, 'https')
  refuse(http2, ['connect'], 'http2.')
  replace(globalThis, 'fetch', (real) => async (...given: never[]) => {
    const [input, init] = given as unknown as [unknown, unknown]
    const method = readMethod([init, input])
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
  refuse(process.report, ['writeReport'], 'process.report.')
  refuse(os, ['setPriority'], 'os.')
  refuse(inspector, ['open'], 'inspector.')
  const Real = sqlite.DatabaseSync
  class AskingDatabase extends Real {
    constructor(...given: ConstructorParameters<typeof Real>) {
      const [path, options] = given
      if (path !== ':memory:' && options?.readOnly !== true) ask('sqlite')
      super(...given)
    }
  }
  Object.defineProperty(sqlite, 'DatabaseSync', { value: AskingDatabase, configurable: true, writable: true })
}

/** The rights that Node refuses by itself, in words. Each has a channel that tells of it. */
const RIGHTS = {
  fs: 'file write',
  child: 'child process',
  worker: 'worker thread',
  inspector: 'inspector',
  addon: 'native addon',
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
  exit: process.exit.bind(process) as (code: number) => void,
  takeRefused,
}

hookRequests()
hookConnections()
hookProcess()
noteRefusals()
syncBuiltinESMExports()
