import type { MemoryUse } from '../../../core/blockage.ts'
import type { CodeAtWork } from '../../../engine/pass/scope.ts'
import type { Config } from '../../../project/config/load-config.ts'
import { describeEnd, type EngineEnd, Question } from './question.ts'

/** Share of a limit from which memory is short, and the one below which it is enough again. */
const SHORT = 0.8
const ENOUGH = 0.7
/** Share of the slots that no run gets while memory is short. */
export const HELD = 0.9
/** Share of its limit by which a process must have grown beside an engine that is to end. */
const GROWN = 0.25
/** The same in bytes: an engine grows by half of that without a fault of its runs. */
const MIN_GROWN = 134_217_728

/** Bytes that an engine's thread holds. Buffers are outside its heap. */
export interface ThreadMemory {
  heap: number
  buffers: number
}

export interface MemoryWatchParts {
  config: Pick<Config, 'engine'>
  thread: {
    threadId: number
    readonly beat: number
    memory: () => Promise<ThreadMemory>
    end: (end: EngineEnd) => Promise<void>
  }
  /** Called when memory gets short, and with null when it is enough again. */
  changed: (short: Shortage | null) => void
  /** True while it has runs at work. */
  isBusy: () => boolean
  failed: (error: unknown) => void
  /** Bytes of the whole process. Default: those of this one. */
  resident?: () => number
}

/** `at`: the author's code that holds the loop meanwhile; null: none, or nobody knows. */
export interface Shortage extends MemoryUse {
  at: string | null
}

/**
 * Looks at the heap of an engine's thread, at its buffers, and at the whole process. Says when one
 * of them gets short, and ends an engine beyond a limit.
 */
export class MemoryWatch {
  /** At the last look. */
  seen: ThreadMemory = { heap: 0, buffers: 0 }
  readonly #parts: MemoryWatchParts
  readonly #resident: () => number
  #isLooking = false
  #isShort = false
  #isStopped = false
  /** Looks in a row that found too little. */
  #looksAbove = 0
  /** Least bytes of the process since this engine had its modules; null before. */
  #leastResident: number | null = null
  /** The code that held the loop when memory was short, and the beat then. */
  #holder: { found: CodeAtWork; beat: number } | null = null

  constructor(parts: MemoryWatchParts) {
    this.#parts = parts
    this.#resident = parts.resident ?? process.memoryUsage.rss
  }

  /** `isHeld`: the loop has not turned since the last look. */
  async look(isHeld: boolean): Promise<void> {
    if (this.#isLooking) return
    this.#isLooking = true
    try {
      await this.#look(isHeld)
    } catch (error) {
      this.#parts.failed(error)
    } finally {
      this.#isLooking = false
    }
  }

  /** From now on, the growth of the process is that of runs. */
  noteLoaded(): void {
    this.#leastResident = this.#resident()
  }

  stop(): void {
    this.#isStopped = true
  }

  /** An end by V8, with its limit and, where the loop was held since a look, with its code. */
  explain(end: EngineEnd): EngineEnd {
    if (end.cause !== 'out_of_memory' || end.harm) return end
    const { heapBytes } = this.#parts.config.engine
    const isSame = this.#holder?.beat === this.#parts.thread.beat
    return describeFull({ of: 'heap', bytes: heapBytes, most: heapBytes }, isSame ? this.#holder?.found : null)
  }

  async #look(isHeld: boolean): Promise<void> {
    const first = await this.#measure()
    if (share(first) < (this.#isShort ? ENOUGH : SHORT)) return this.#relax()
    this.#looksAbove += 1
    // Code that holds the loop fills the memory; any other may only be passing by.
    if (this.#looksAbove < 2 && !isHeld) return
    if (this.#isShort && !isHeld && !first.isBeyond) return
    const { thread, changed } = this.#parts
    using question = new Question(thread.threadId)
    const [found] = await Promise.all([
      isHeld ? this.#findHolder(question) : null,
      // Garbage may fill it.
      this.#isShort && !first.isBeyond ? null : question.collect(),
    ])
    const use = await this.#measure()
    if (this.#isStopped) return
    if (use.isBeyond) return thread.end(describeFull(use, found))
    if (this.#isShort || share(use) < SHORT) return
    this.#isShort = true
    const { of, bytes, most } = use
    changed({ of, bytes, most, at: found?.place ?? null })
  }

  /** The code that holds the loop. It is kept at once: V8 may end the thread before the rest. */
  async #findHolder(question: Question): Promise<CodeAtWork | null> {
    const found = await question.ask<CodeAtWork>('codeAtWork')
    if (found) this.#holder = { found, beat: this.#parts.thread.beat }
    return found
  }

  #relax(): void {
    this.#looksAbove = 0
    if (this.#isShort) this.#parts.changed(null)
    this.#isShort = false
  }

  /** The use beyond its limit, else the fullest. */
  async #measure(): Promise<MemoryUse & { isBeyond: boolean }> {
    const { heapBytes, memoryBytes } = this.#parts.config.engine
    this.seen = await this.#parts.thread.memory()
    const { heap, buffers } = this.seen
    const resident = this.#resident()
    if (this.#leastResident !== null) this.#leastResident = Math.min(this.#leastResident, resident)
    // Without growth beside this engine, or runs at work, others fill the process.
    const hasGrown = resident - (this.#leastResident ?? resident) > Math.max(GROWN * memoryBytes, MIN_GROWN)
    const isBeyond = this.#parts.isBusy() && resident > memoryBytes
    const uses = [
      ...(hasGrown ? [{ of: 'process', bytes: resident, most: memoryBytes, isBeyond } as const] : []),
      { of: 'buffers', bytes: buffers, most: heapBytes, isBeyond: buffers > heapBytes },
      { of: 'heap', bytes: heap, most: heapBytes, isBeyond: heap > heapBytes },
    ] as const
    return uses.find(({ isBeyond }) => isBeyond) ?? uses.reduce((full, use) => (share(use) > share(full) ? use : full))
  }
}

function share({ bytes, most }: MemoryUse): number {
  return bytes / most
}

const SAID = {
  heap: { full: 'The heap of workflows is full', setting: 'heapBytes' },
  buffers: { full: 'Buffers of workflows take too much', setting: 'heapBytes' },
  process: { full: 'The process takes too much', setting: 'memoryBytes' },
} as const

function describeFull({ of, bytes, most }: MemoryUse, found: CodeAtWork | null = null): EngineEnd {
  const { full, setting } = SAID[of]
  const message = `${full}: ${bytes} bytes, where \`engine.${setting}\` is ${most}`
  return describeEnd('out_of_memory', message, found, 'filled the memory')
}
