import { constants, setPriority } from 'node:os'
import type { ShadowBook } from '../../../core/safety/differences/shadow-book.ts'
import type { Config } from '../../../project/config/load-config.ts'
import { storeOptions } from '../../../project/data-dir/open-store.ts'
import type { ShadowModule } from '../../../project/workflows/list-shadows.ts'
import type { StoreOptions } from '../../../store/open-store.ts'
import { besides, Child } from '../../play/child/child.ts'
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
  readonly #child: Child
  readonly #module: WrappedModule

  /** The room has the same priority, and the signal ends both. Throws `invalid_workflow`. */
  static async open(
    config: Config,
    { file, path }: ShadowModule,
    { signal, priority = constants.priority.PRIORITY_LOW }: { signal: AbortSignal; priority?: number | undefined },
  ): Promise<ShadowProcess> {
    const child = new Child({
      name: 'The process of a shadow',
      entry: besides(import.meta.url, 'shadow-main'),
      env: roomEnvironment(),
      handlers: {},
    })
    if (child.pid !== undefined) setPriority(child.pid, priority)
    signal.addEventListener('abort', () => child.leave(KILL_AFTER_MS))
    const options = { ...storeOptions(config), connections: CONNECTIONS, readHosts: null }
    const module = wrapModule(path)
    const alone = roomConfig({ ...config, workflowsDir: module.workflowsDir })
    const start: ShadowStart = { config: alone, storeOptions: options, file }
    try {
      return new ShadowProcess(child, module, await child.call<string>('open', start))
    } catch (error) {
      await child.leave(KILL_AFTER_MS)
      await module[Symbol.asyncDispose]()
      throw error
    }
  }

  private constructor(child: Child, module: WrappedModule, workflow: string) {
    this.#child = child
    this.#module = module
    this.workflow = workflow
  }

  /** Plays the runs of the next minute, and those that have ended late. Gives the next book. */
  look(book: ShadowBook, now: number): Promise<ShadowBook> {
    return this.#child.call<ShadowBook>('look', book, now)
  }

  /** It ends its room first, and then itself. */
  async [Symbol.asyncDispose](): Promise<void> {
    await this.#child.leave(KILL_AFTER_MS)
    await this.#module[Symbol.asyncDispose]()
  }
}
