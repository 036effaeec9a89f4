import { describeError } from '../../core/errors.ts'
import type { Notice } from '../../core/notices.ts'
import { planAlone } from '../../core/runs/blame.ts'
import { ALONE_MS } from '../../core/runs/lease.ts'
import type { Store } from '../../core/store/store.ts'
import type { Clock } from '../../core/time.ts'
import { publishRecovery } from '../../engine/claim/recovery.ts'
import type { NoticeBus } from '../../notices/notice-bus.ts'
import { hiddenVariables } from '../../project/config/environment.ts'
import type { Config } from '../../project/config/load-config.ts'
import type { StoreOptions } from '../../store/open-store.ts'
import { besides, Child } from '../preview/child/child.ts'
import type { EngineAccess } from './engine.ts'
import { type EngineConfig, type HandedConfig, handConfig } from './engine-config.ts'

/** How often to look for suspects that no notice has told of: other processes have some, too. */
const LOOK_EVERY_MS = 5_000
/** Time beyond `drain` after which a quarantine that was told to stop is killed. */
const KILL_AFTER_MS = 3_000

export interface QuarantineStart {
  config: HandedConfig & Pick<Config, 'engine'>
  storeOptions: StoreOptions
  access: EngineAccess
  /** Variables that were taken out of the environment. */
  variables: Readonly<Record<string, string>>
}

interface QuarantineParts {
  config: EngineConfig & Pick<Config, 'engine'>
  storeOptions: StoreOptions
  store: Pick<Store, 'hasSuspects' | 'endWorker'>
  clock: Clock
  notices: NoticeBus
}

/**
 * Tries the runs that may have ended their workers in a process of its own. Each is alone there for
 * a while, so that a death has one suspect and harms nothing else. The process lives while there
 * are suspects. See decision 36.
 */
export class Quarantine {
  readonly #parts: QuarantineParts
  #access: EngineAccess | null = null
  #child: Child | null = null
  /** The worker of its process; empty where none has begun. */
  #worker = ''
  #ended: Promise<void> = Promise.resolve()
  #looking: Promise<void> | null = null
  #cancelLook = () => {}
  #unsubscribe = () => {}
  #isStopped = false
  #aloneMs: number

  constructor(parts: QuarantineParts) {
    this.#parts = parts
    this.#aloneMs = this.#firstAloneMs
  }

  get #firstAloneMs(): number {
    return this.#parts.config.aloneMs ?? ALONE_MS
  }

  /** `access`: to the default account. */
  start(access: EngineAccess): void {
    this.#access = access
    this.#unsubscribe = this.#parts.notices.subscribe('runs.suspected', () => this.#look())
    this.#look()
  }

  /** Resolves when its process has ended; the run that it tried is released. */
  async stop(): Promise<void> {
    this.#isStopped = true
    this.#unsubscribe()
    this.#cancelLook()
    await this.#looking
    this.#child?.tell('stop')
    await this.#child?.killAfter(this.#parts.config.drainMs + KILL_AFTER_MS)
    await this.#ended
  }

  #look(): void {
    this.#looking ??= this.#begin()
      .catch((error: unknown) => this.#report(error))
      .finally(() => {
        this.#looking = null
        this.#lookLater()
      })
  }

  #lookLater(): void {
    const { clock } = this.#parts
    this.#cancelLook()
    if (!this.#isStopped) this.#cancelLook = clock.at(clock.now() + LOOK_EVERY_MS, () => this.#look())
  }

  async #begin(): Promise<void> {
    const { store, config, storeOptions } = this.#parts
    if (this.#child || !this.#access || !(await store.hasSuspects()) || this.#isStopped) return
    // Memory for counts is shared by threads only.
    const { commits: _, ...place } = storeOptions
    const child = new Child({
      name: 'The quarantine process',
      entry: besides(import.meta.url, 'quarantine-main'),
      handlers: {
        began: (worker: string) => {
          this.#worker = worker
        },
        heard: (heard: readonly Notice[]) => {
          for (const notice of heard) {
            if (notice.kind === 'engine.ended') this.#aloneMs = planAlone(this.#aloneMs, notice)
            this.#parts.notices.publish(notice)
          }
        },
      },
      output: 'inherit',
      // It gives its run back first.
      outlivesParent: true,
    })
    const start: QuarantineStart = {
      // The engine beside it follows changes of modules.
      config: {
        ...handConfig(config),
        aloneMs: this.#aloneMs,
        dev: false,
        parent: process.pid,
        engine: shareMemory(config.engine),
      },
      storeOptions: place,
      access: this.#access,
      variables: hiddenVariables(),
    }
    child.tell('start', start)
    this.#child = child
    this.#worker = ''
    this.#ended = this.#follow(child).catch((error: unknown) => this.#report(error))
  }

  async #follow(child: Child): Promise<void> {
    const { store, notices } = this.#parts
    const { code, how } = await child.ended
    this.#child = null
    if (code === 0) this.#aloneMs = this.#firstAloneMs
    if (code === 0 || this.#isStopped) return
    // Others would see the death some seconds later, and not how many runs shared it.
    const recovery = await store.endWorker(this.#worker)
    const message = `The quarantine process has ended: ${how}.`
    const runs = [...recovery.suspects, ...recovery.parked].map(({ run, workflow }) => ({ run, workflow }))
    this.#aloneMs = planAlone(this.#aloneMs, { runs, guilty: [] })
    notices.publish({ kind: 'engine.ended', cause: 'killed', error: { name: 'Error', message }, runs, guilty: [] })
    publishRecovery(notices.publish, recovery)
    // Without a run to blame it failed by itself, and the next look tries again.
    if (recovery.count > 0 && !this.#isStopped) this.#look()
  }

  #report(error: unknown): void {
    this.#parts.notices.publish({ kind: 'fault', where: 'trying suspects alone', error: describeError(error) })
  }
}

/** The suspect gets what this process leaves, or half of all. */
function shareMemory(engine: Config['engine']): Config['engine'] {
  const { memoryBytes } = engine
  return { ...engine, memoryBytes: Math.max(memoryBytes - process.memoryUsage.rss(), Math.ceil(memoryBytes / 2)) }
}
