import { type ChildProcess, fork } from 'node:child_process'
import { constants, setPriority } from 'node:os'
import { fileURLToPath } from 'node:url'
import { type Failure, UpshotError } from '../../../core/errors.ts'
import type { ShadowBook } from '../../../core/safety/differences/shadow-book.ts'
import type { Config } from '../../../project/config/load-config.ts'
import { storeOptions } from '../../../project/data-dir/open-store.ts'
import type { ShadowModule } from '../../../project/workflows/list-shadows.ts'
import type { StoreOptions } from '../../../store/open-store.ts'
import { Link, type LinkMessage, postMessage } from '../../play/link.ts'
import { type RoomConfig, roomConfig } from '../../play/open-room.ts'
import { roomEnvironment } from '../../play/room.ts'
import { type WrappedModule, wrapModule } from '../wrap-module.ts'

/** A shadow, as its process is told of it. */
export interface ShadowStart {
  config: RoomConfig
  storeOptions: StoreOptions
  /** Its module, as messages name it. */
  file: string
}

/** The end of a look: the next book, or the loss of the room that played. */
export type LookEnd = { kind: 'followed'; book: ShadowBook } | { kind: 'lost'; error: Failure }

/** A process that was asked to end is killed after this long. */
const KILL_AFTER_MS = 5_000
/** Sessions with a PostgreSQL server: what reads the journals, and a spare one. */
const CONNECTIONS = { own: 2, aside: 1, engine: 1 }

/**
 * The process of a shadow: it reads the runs, has them played in its room, and compares. Live work
 * pays for one message a look, whatever the number of runs. See decision 87.
 */
export class ShadowProcess implements AsyncDisposable {
  /** Id of its workflow. */
  readonly workflow: string
  readonly #child: ChildProcess
  readonly #link: Link
  readonly #module: WrappedModule
  #isLost = false

  /** The room has the same priority, and the signal ends both. Throws `invalid_workflow`. */
  static async open(
    config: Config,
    { file, path }: ShadowModule,
    { signal, priority = constants.priority.PRIORITY_LOW }: { signal: AbortSignal; priority?: number | undefined },
  ): Promise<ShadowProcess> {
    const child = fork(fileURLToPath(import.meta.url.replace(/shadow-process(\.\w+)$/, 'shadow-main$1')), {
      env: roomEnvironment(),
      serialization: 'advanced',
      stdio: ['ignore', 'ignore', 'ignore', 'ipc'],
    })
    if (child.pid !== undefined) setPriority(child.pid, priority)
    const link = new Link((message) => postMessage(child, message), {})
    signal.addEventListener('abort', () => child.connected && child.disconnect())
    child.on('message', (message: LinkMessage) => link.receive(message))
    child.on('error', (error) => link.end(describeEnd(error.message)))
    child.on('exit', (status, signal) => link.end(describeEnd(signal ?? `exit code ${status}`)))
    const options = { ...storeOptions(config), connections: CONNECTIONS, readHosts: null }
    const module = wrapModule(path)
    const alone = roomConfig({ ...config, workflowsDir: module.workflowsDir })
    const start: ShadowStart = { config: alone, storeOptions: options, file }
    try {
      return new ShadowProcess({ child, link, module, workflow: await link.call<string>('open', start) })
    } catch (error) {
      await end(child, module)
      throw error
    }
  }

  private constructor(parts: { child: ChildProcess; link: Link; module: WrappedModule; workflow: string }) {
    this.#child = parts.child
    this.#link = parts.link
    this.#module = parts.module
    this.workflow = parts.workflow
  }

  /** It plays nothing any more: its room, or the process itself, has ended. */
  get isLost(): boolean {
    return this.#isLost || this.#link.hasEnded
  }

  /** Plays the runs of the next minute, and those that have ended late. Gives the next book. */
  async look(book: ShadowBook, now: number): Promise<ShadowBook> {
    const found = await this.#link.call<LookEnd>('look', book, now)
    if (found.kind === 'followed') return found.book
    this.#isLost = true
    throw new UpshotError('internal', found.error.message)
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#link.end(describeEnd('it was told to'))
    await end(this.#child, this.#module)
  }
}

/** It ends its room first, and then itself. */
async function end(child: ChildProcess, module: WrappedModule): Promise<void> {
  await endProcess(child)
  await module[Symbol.asyncDispose]()
}

async function endProcess(child: ChildProcess): Promise<void> {
  if (child.pid === undefined || child.exitCode !== null || child.signalCode !== null) return
  const ended = new Promise((resolve) => child.once('exit', resolve))
  if (child.connected) child.disconnect()
  const kill = setTimeout(() => child.kill('SIGKILL'), KILL_AFTER_MS)
  await ended
  clearTimeout(kill)
}

function describeEnd(why: string): UpshotError {
  return new UpshotError('internal', `The process of a shadow has ended: ${why}.`)
}
