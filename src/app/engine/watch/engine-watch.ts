import { url as debuggerUrl } from 'node:inspector'
import { type Blockage, MAX_LOAD_MS, observeBeat } from '../../../core/blockage.ts'
import type { Clock } from '../../../core/time.ts'
import type { CodeAtWork } from '../../../engine/pass/outside/code-at-work.ts'
import type { Config } from '../../../project/config/load-config.ts'
import { type EngineEnd, Question } from './question.ts'

/** Longest interval between two looks: memory may grow by a gigabyte in it. */
const MAX_LOOK_MS = 250
/** Looks until a blocked loop is certain. */
const LOOKS = 4
/** Least time for which an engine may be blocked until it has its modules, between them. */
const LOAD_MS = 30_000

interface WatchedThread {
  threadId: number
  /** A number that rises while its loop turns. */
  readonly beat: number
  /** The module that it loads; null for none. */
  readonly loading: object | null
  bufferBytes: () => Promise<number>
  end: (end: EngineEnd) => Promise<void>
}

interface EngineWatchParts {
  config: Pick<Config, 'engine'>
  clock: Clock
  thread: WatchedThread
}

/** How often the thread's loop beats for its watch. */
export function planLook({ engine }: Pick<Config, 'engine'>): number {
  return Math.min(MAX_LOOK_MS, Math.ceil(engine.hangMs / LOOKS))
}

/**
 * Ends an engine's thread whose loop is blocked for `engine.hang`, and says whose code did it. So
 * for buffers beyond `engine.heapBytes`.
 */
export class EngineWatch {
  readonly #parts: EngineWatchParts
  readonly #lookMs: number
  #blockage: Blockage | null = null
  #isLoaded = false
  #isMeasuring = false
  /** Looks in a row that found the buffers too large. */
  #looksAbove = 0
  #cancelLook = () => {}

  constructor(parts: EngineWatchParts) {
    this.#parts = parts
    this.#lookMs = planLook(parts.config)
    this.#lookLater()
  }

  /** How long the loop has been blocked. */
  get blockedMs(): number {
    return this.#blockage?.blockedMs ?? 0
  }

  get isLoaded(): boolean {
    return this.#isLoaded
  }

  /** The thread has its modules: from now on, only a run can block it. */
  noteLoaded(): void {
    this.#isLoaded = true
    this.#blockage = null
  }

  stop(): void {
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
    if (!this.#isMeasuring) void this.#measure()
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

  async #measure(): Promise<void> {
    const { config, thread } = this.#parts
    const most = config.engine.heapBytes
    this.#isMeasuring = true
    try {
      const isAbove = (await thread.bufferBytes()) > most
      this.#looksAbove = isAbove ? this.#looksAbove + 1 : 0
      // Code that holds the loop meanwhile fills the memory; any other may only be passing by.
      const isHeld = (this.#blockage?.blockedMs ?? 0) > 0
      if (!isAbove || (!isHeld && this.#looksAbove < 2)) return
      using question = new Question(thread.threadId)
      const found = isHeld ? await question.ask<CodeAtWork>('codeAtWork') : null
      await question.collect()
      const bytes = await thread.bufferBytes()
      if (bytes <= most) return
      this.stop()
      const message = `Buffers of workflows take ${bytes} bytes, more than the ${most} of \`engine.heapBytes\``
      await thread.end(describeEnd('out_of_memory', message, found, 'filled the memory'))
    } finally {
      this.#isMeasuring = false
    }
  }
}

function describeEnd(cause: EngineEnd['cause'], message: string, found: CodeAtWork | null, did: string): EngineEnd {
  const at = found?.place ? ` at ${found.place}` : ''
  const error = { name: 'Error', message: `${message}${at}.` }
  return { cause, error, harm: found && { runs: [found.run], how: `${did}${at}` } }
}
