import { PROGRESS_MS, type Progress } from '../../core/runs/annotations/progress.ts'
import { MAX_TAGS, type Tags } from '../../core/runs/annotations/tags.ts'
import type { Clock } from '../../core/time.ts'

/** Time by which a rate is measured, in milliseconds. */
const RATE_MS = 30_000

/** The state of the work, as code tells it. */
type Counts = Pick<Progress, 'done' | 'total' | 'failed' | 'note'>

interface ProgressParts {
  clock: Clock
  save: (progress: Progress) => Promise<void>
  /** The word of an earlier pass; null: there is none. */
  load: () => Promise<Counts | null>
  isReplaying: () => boolean
  /** Nothing more may be written. */
  isClosed: () => boolean
}

/** Counts the parts of one list, such as that of `step.map`. */
interface PartCounter {
  done(): void
  failed(): void
}

/**
 * How far a run has come. The newest value is written at most once a second, and nobody waits for
 * that. A replay writes nothing, so that it turns nothing back.
 */
export class RunProgress {
  readonly #parts: ProgressParts
  /** The word of the author's code, before which that of lists counts nothing. */
  #given: Counts | null = null
  #lists: Counts[] = []
  readonly #counters = new WeakMap<object, PartCounter>()
  #isOwed = false
  #writtenAt: number
  /** The word that this pass has written. */
  #written: Counts | null = null
  #writing: Promise<void> | null = null
  #cancel: (() => void) | null = null
  /** Parts that were over at earlier moments, oldest first. */
  #samples: { at: number; over: number }[] = []
  #phase = ''

  constructor(parts: ProgressParts) {
    this.#parts = parts
    this.#writtenAt = parts.clock.now()
  }

  tell(counts: Counts): void {
    this.#given = counts
    this.#note()
  }

  /** Begins to count a list; several at the same time are one. */
  count(note: string, total: number): PartCounter {
    if (this.#lists.every((list) => list.done + list.failed >= list.total)) this.#lists = []
    const list = { done: 0, total, failed: 0, note }
    this.#lists.push(list)
    const add = (end: 'done' | 'failed') => () => {
      list[end] += 1
      this.#note()
    }
    return { done: add('done'), failed: add('failed') }
  }

  /** The counter of a list that has no other name. */
  countOf(list: object, note: string, total: number): PartCounter {
    const known = this.#counters.get(list) ?? this.count(note, total)
    this.#counters.set(list, known)
    return known
  }

  /** Writes the newest value at the end of a pass. Lists that were quick leave no word. */
  async end(isCompleted: boolean): Promise<void> {
    this.#cancel?.()
    this.#cancel = null
    await this.#writing
    if (!this.#isOwed) return
    const newest = this.#newest()
    const isUnfinished = !isCompleted && newest.done + newest.failed < newest.total
    const last = this.#written ?? (await this.#parts.load().catch(() => null))
    const isNews = last === null ? this.#given !== null || isUnfinished : !isSameWord(last, newest)
    if (isNews) await this.#write()
  }

  #note(): void {
    if (this.#parts.isClosed()) return
    this.#isOwed = true
    if (this.#parts.isReplaying()) return
    if (this.#samples.length === 0) this.#sample(this.#newest())
    if (this.#cancel || this.#writing) return
    const { clock } = this.#parts
    // A clock that was set back since delays no word.
    const dueAt = Math.min(this.#writtenAt, clock.now()) + PROGRESS_MS
    if (clock.now() >= dueAt) void this.#write()
    else this.#wakeAt(dueAt)
  }

  #wakeAt(moment: number): void {
    this.#cancel = this.#parts.clock.at(moment, () => {
      this.#cancel = null
      if (this.#isOwed && !this.#parts.isClosed()) void this.#write()
    })
  }

  /** A lost write is no fault: the next one has all of it. */
  #write(): Promise<void> {
    this.#isOwed = false
    const { clock, save } = this.#parts
    const at = clock.now()
    this.#writtenAt = at
    const newest = this.#newest()
    this.#written = { ...newest }
    const saved = save({ ...newest, rate: this.#sample(newest), at }).catch(() => {})
    this.#writing = saved.then(() => {
      this.#writing = null
      if (this.#isOwed && !this.#cancel && !this.#parts.isClosed()) this.#wakeAt(at + PROGRESS_MS)
    })
    return this.#writing
  }

  #newest(): Counts {
    if (this.#given !== null) return this.#given
    const sum = { done: 0, total: 0, failed: 0, note: this.#lists.at(-1)?.note ?? null }
    for (const { done, total, failed } of this.#lists) {
      sum.done += done
      sum.total += total
      sum.failed += failed
    }
    return sum
  }

  /** Remembers a moment, and gives the parts per second since the oldest one. */
  #sample({ done, total, failed, note }: Counts): number | null {
    const [at, over, phase] = [this.#parts.clock.now(), done + failed, `${total} ${note}`]
    const last = this.#samples.at(-1) ?? { at, over: 0 }
    if (phase !== this.#phase || over < last.over || at < last.at) this.#samples = []
    this.#phase = phase
    this.#samples.push({ at, over })
    while (this.#samples.length > 2 && at - (this.#samples[0]?.at ?? at) > RATE_MS) this.#samples.shift()
    const { at: since, over: before } = this.#samples[0] ?? { at, over }
    return at > since && over > before ? ((over - before) / (at - since)) * 1_000 : null
  }
}

function isSameWord(one: Counts, other: Counts): boolean {
  return (['done', 'total', 'failed', 'note'] as const).every((part) => one[part] === other[part])
}

/** The tags of a run as a pass knows them, and those of them that are not written yet. */
export class RunTags {
  readonly #all = new Map<string, string>()
  #unsaved: Map<string, string> | null = null

  /** `known`: those in the database. `more`: those that it does not have yet. */
  constructor(known: Tags, more: Tags) {
    for (const [name, value] of Object.entries(known)) this.#all.set(name, value)
    for (const [name, value] of Object.entries(more)) this.set(name, value)
  }

  get all(): Tags {
    return Object.fromEntries(this.#all)
  }

  /** False where the run has as many others as it may have. */
  set(name: string, value: string): boolean {
    if (this.#all.get(name) === value) return true
    if (!this.#all.has(name) && this.#all.size >= MAX_TAGS) return false
    this.#all.set(name, value)
    this.#unsaved ??= new Map()
    this.#unsaved.set(name, value)
    return true
  }

  /** Those to be written now; undefined without any. */
  take(): Tags | undefined {
    if (this.#unsaved === null) return undefined
    const taken = Object.fromEntries(this.#unsaved)
    this.#unsaved = null
    return taken
  }
}
