import crypto, { createHash } from 'node:crypto'
import { subscribe } from 'node:diagnostics_channel'
import inspector from 'node:inspector'
import { syncBuiltinESMExports } from 'node:module'
import os from 'node:os'
import sqlite from 'node:sqlite'
import { formatUuid } from '../../../core/ids.ts'
import { findUndeclared } from '../../../engine/pass/outside/undeclared.ts'
import { currentPass, stepAtWork } from '../../../engine/pass/scope.ts'
import { hookNetwork } from './hook-network.ts'
import { ask, note, noteRefusal, refuse, replace, takeRefused, trustReads } from './refusals.ts'

// Loaded before all other code of an isolated process. Node's permission model refuses files,
// processes, threads and addons; these hooks refuse the ways out that it does not know.

/** Ways out of this process that the permission model of Node leaves open. */
function hookProcess(): void {
  const names = ['kill', '_kill', 'exit', 'reallyExit', 'abort', 'chdir', 'setuid', 'setgid', 'seteuid', 'setegid']
  refuse(process, [...names, 'setgroups', 'initgroups', 'umask', '_debugProcess', '_debugEnd'], 'process.')
  refuse(process, ['send'], 'process.')
  // Node itself calls it where the parent has ended, and then this process has no use.
  replace(process, 'disconnect', () => () => {
    const found = findUndeclared('process.disconnect')
    if (found?.where === 'on_load' && found.place === null) isolationHooks.exit(0)
    else ask('process.disconnect')
  })
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
    subscribe(`node:permission-model:${name}`, () => noteRefusal(call))
  }
}

/** Draws so far, by the pass or the attempt of a step. */
const draws = new WeakMap<object, number>()

/**
 * Gives code of runs the remembered time and chance of its run, where it asks JavaScript for them:
 * `Date`, `Math.random` and `randomUUID`. Two previews of a run get the same. Cannot be undone.
 */
function replaceTimeAndChance(): void {
  const RealDate = Date
  const realNow = Date.now
  const now = () => stepAtWork()?.now ?? currentPass()?.journal.now ?? realNow()
  RealDate.now = now
  globalThis.Date = new Proxy(RealDate, {
    construct: (real, given, target) => Reflect.construct(real, given.length === 0 ? [now()] : given, target),
    apply: (real) => new real(now()).toString(),
  })
  const realRandom = Math.random
  Math.random = () => {
    const drawn = draw()
    return drawn === null ? realRandom() : drawn.readUInt32BE() / 2 ** 32
  }
  const realUuid = crypto.randomUUID
  crypto.randomUUID = globalThis.crypto.randomUUID = (...given) => {
    const drawn = draw()
    return drawn === null ? realUuid(...given) : (formatUuid(drawn) as ReturnType<typeof realUuid>)
  }
}

/** The next bytes of the run whose code calls; null outside of runs. */
function draw(): Buffer | null {
  const pass = currentPass()
  if (pass === null) return null
  const step = stepAtWork()
  const number = (draws.get(step ?? pass) ?? 0) + 1
  draws.set(step ?? pass, number)
  const place = step === null ? '' : `${step.key}/${step.attempt}`
  return createHash('sha256').update(`${pass.run.lease.runId} ${place} ${number}`).digest()
}

/**
 * The ways out that only the isolated process itself uses, and the calls that the hooks refused.
 */
export const isolationHooks = {
  send: process.send?.bind(process),
  // `process.exit` ends by this function, which the hooks refuse.
  exit: (process as unknown as { reallyExit: (code: number) => void }).reallyExit.bind(process),
  takeRefused,
  trustReads,
}

hookNetwork()
hookProcess()
hookDatabases()
noteRefusals()
replaceTimeAndChance()
syncBuiltinESMExports()
