import { url as debuggerUrl } from 'node:inspector'
import { type Blockage, MAX_LOAD_MS, observeBeat } from '../../../core/blockage.ts'
import type { Clock } from '../../../core/time.ts'
import type { CodeAtWork } from '../../../engine/pass/scope.ts'
import type { Config } from '../../../project/config/load-config.ts'
import { MemoryWatch, type MemoryWatchParts, type ThreadMemory } from './memory-watch.ts'
import { describeEnd, type EngineEnd, Question } from './question.ts'

/** Longest interval between two looks: memory may grow by a gigabyte in it. */
const MAX_LOOK_MS = 250
/** Looks until a blocked loop is certain. */
const LOOKS = 4
/** Least time for which an engine may be blocked until it has its modules, between them. */
const LOAD_MS = 30_000

interface EngineWatchParts extends MemoryWatchParts {
  clock: Clock
  /** `loading`: the module that it loads; null for none. */
  thread: MemoryWatchParts['thread'] & { readonly loading: object | null }
}

/** How often the thread's loop beats for its watch. */
export function planLook({ engine }: Pick<Config, 'engine'>): number {
  return Math.min(MAX_LOOK_MS, Math.ceil(engine.hangMs / LOOKS))
}

/**
 * Ends an engine's thread whose loop is blocked for `engine.hang`, and says whose code did it. So
 * for one that fills the memory.
 */
export class EngineWatch {
  readonly #parts: EngineWatchParts
  readonly #lookMs: number
  #blockage: Blockage | null = null
  readonly #memory: MemoryWatch
  #isLoaded = false
  #cancelLook = () => {}

  constructor(parts: EngineWatchParts) {
    this.#parts = parts
    this.#lookMs = planLook(parts.config)
    this.#memory = new MemoryWatch(parts)
    this.#lookLater()
  }

  /** How long the loop has been blocked. */
  get blockedMs(): number {
    return this.#blockage?.blockedMs ?? 0
  }

  /** At the last look. */
  get memory(): ThreadMemory {
    return this.#memory.seen
  }

  get isLoaded(): boolean {
    return this.#isLoaded
  }

  /** The thread has its modules: from now on, only a run can block it. */
  noteLoaded(): void {
    this.#isLoaded = true
    this.#memory.noteLoaded()
    this.#blockage = null
  }

  /** Adds the code that is to blame for an end that this watch did not cause. */
  explain(end: EngineEnd): EngineEnd {
    return this.#memory.explain(end)
  }

  stop(): void {
    this.#memory.stop()
    this.#cancelLook()
    this.#cancelLook = () => {}
  }

  #lookLater(): void {
    const { clock } = this.#parts
    this.#cancelLook = clock.at(clock.now() + this.#lookMs, () => this.#look())
  }

  /** A debugger may hold the engine for as long as it likes. */
  #look(): void {
    const { clock, config, thread } = this.#parts
    const seen = { beat: thread.beat, now: clock.now() }
    this.#blockage = observeBeat(debuggerUrl() ? null : this.#blockage, seen, this.#lookMs)
    const loadMs = thread.loading ? MAX_LOAD_MS : Math.max(config.engine.hangMs, LOAD_MS)
    const hangMs = this.#isLoaded && !thread.loading ? config.engine.hangMs : loadMs
    if (this.#blockage.blockedMs >= hangMs) return void this.#endBlocked(hangMs)
    void this.#memory.look(this.#blockage.blockedMs > 0)
    this.#lookLater()
  }

  async #endBlocked(ms: number): Promise<void> {
    this.stop()
    const { thread } = this.#parts
    using question = new Question(thread.threadId)
    const found = await question.ask<CodeAtWork>('codeAtWork')
    const message = `The code of a workflow has blocked the engine's loop for ${ms / 1_000} s`
    await thread.end(describeEnd('blocked', message, found, 'blocked the engine'))
  }
}
