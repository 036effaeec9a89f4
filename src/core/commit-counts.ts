/** Upper bounds of the buckets, in seconds for times, in writes for sizes. */
export const COMMIT_SECONDS = [0.0001, 0.00025, 0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 1] as const
export const COMMIT_WRITES = [1, 2, 5, 10, 25, 50, 100] as const
/** The same of waits for a server, in seconds. */
export const WAIT_SECONDS = [0.0001, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 5] as const

/** Reasons for a call of PostgreSQL to wait in its process: calls before it, or no free session. */
const WAITS = ['deliveries', 'steps', 'session'] as const

export type WaitFor = (typeof WAITS)[number]

/**
 * Reasons for which a call of PostgreSQL is made again: SQLSTATEs. `08` is all of that class, and
 * `lost` a session that ended without one.
 */
const REPEATS = [
  '08',
  '25006',
  '25P03',
  '40001',
  '40P01',
  '53100',
  '53200',
  '53300',
  '53400',
  '55P03',
  '57014',
  '57P01',
  '57P02',
  '57P03',
  'lost',
] as const

/** The fate of a commit whose answer was lost, as the server told it; `unknown`: it did not. */
const FATES = ['committed', 'undone', 'unknown'] as const

type Fate = (typeof FATES)[number]

/** Counts per bucket, the last one beyond all bounds, and the sum of what was observed. */
export interface CommitSpread {
  counts: readonly number[]
  sum: number
}

const WAIT_BOUNDS = { deliveries: WAIT_SECONDS, steps: WAIT_SECONDS, session: WAIT_SECONDS }
const BOUNDS = {
  seconds: COMMIT_SECONDS,
  syncSeconds: COMMIT_SECONDS,
  writes: COMMIT_WRITES,
  ...(WAIT_BOUNDS satisfies Record<WaitFor, readonly number[]>),
  hintSeconds: WAIT_SECONDS,
} as const

type SpreadName = keyof typeof BOUNDS

/** Where the numbers of a spread begin: a count per bucket, one beyond all bounds, and the sum. */
const STARTS = {} as Record<SpreadName, number>
let end = 0
for (const [name, bounds] of Object.entries(BOUNDS)) {
  STARTS[name as SpreadName] = end
  end += bounds.length + 2
}
const REPEATS_START = end
const FATES_START = REPEATS_START + REPEATS.length
const SIZE = FATES_START + FATES.length

/** Threads that may commit. */
const LANES = 2

/**
 * Counts of commits in memory that threads share, each with a lane of its own. A read during a
 * commit may miss it in one of the numbers.
 */
export class CommitCounts {
  readonly #lanes: readonly Float64Array[]
  readonly #numbers: Float64Array

  /** `lane`: 0 or 1. */
  constructor(memory: SharedArrayBuffer = CommitCounts.allocate(), lane = 0) {
    const bytes = SIZE * Float64Array.BYTES_PER_ELEMENT
    this.#lanes = Array.from({ length: LANES }, (_, number) => new Float64Array(memory, number * bytes, SIZE))
    this.#numbers = this.#lanes[lane] ?? new Float64Array(SIZE)
  }

  static allocate(): SharedArrayBuffer {
    return new SharedArrayBuffer(LANES * SIZE * Float64Array.BYTES_PER_ELEMENT)
  }

  /** `ms`: the whole commit; `syncMs`: its COMMIT, which waits for the disk. */
  add(writes: number, ms: number, syncMs: number): void {
    this.#observe('seconds', ms / 1_000)
    this.#observe('syncSeconds', syncMs / 1_000)
    this.#observe('writes', writes)
  }

  addWait(what: WaitFor, ms: number): void {
    this.#observe(what, ms / 1_000)
  }

  /** `ms`: from a write to the moment at which this process heard of it. */
  addHint(ms: number): void {
    this.#observe('hintSeconds', ms / 1_000)
  }

  /** `code`: the SQLSTATE; empty, or one of the system, where the session ended without. */
  addRepeat(code: string): void {
    const codes: readonly string[] = REPEATS
    const index = codes.indexOf(code.startsWith('08') ? '08' : code)
    this.#increase(REPEATS_START + (index >= 0 ? index : codes.indexOf('lost')))
  }

  addFate(fate: Fate): void {
    this.#increase(FATES_START + FATES.indexOf(fate))
  }

  read(): { seconds: CommitSpread; syncSeconds: CommitSpread; writes: CommitSpread } {
    return {
      seconds: this.#spread('seconds'),
      syncSeconds: this.#spread('syncSeconds'),
      writes: this.#spread('writes'),
    }
  }

  /** Counts that only a server of PostgreSQL makes. */
  readServer(): {
    waits: { what: WaitFor; spread: CommitSpread }[]
    hintSeconds: CommitSpread
    repeats: { code: string; count: number }[]
    fates: { fate: Fate; count: number }[]
  } {
    return {
      waits: WAITS.map((what) => ({ what, spread: this.#spread(what) })),
      hintSeconds: this.#spread('hintSeconds'),
      repeats: REPEATS.map((code, index) => ({ code, count: this.#total(REPEATS_START + index) })),
      fates: FATES.map((fate, index) => ({ fate, count: this.#total(FATES_START + index) })),
    }
  }

  #observe(name: SpreadName, value: number): void {
    const bounds: readonly number[] = BOUNDS[name]
    const start = STARTS[name]
    let bucket = 0
    while (bucket < bounds.length && value > (bounds[bucket] ?? 0)) bucket++
    this.#increase(start + bucket)
    this.#increase(start + bounds.length + 1, value)
  }

  #increase(index: number, by = 1): void {
    this.#numbers[index] = (this.#numbers[index] ?? 0) + by
  }

  #total(index: number): number {
    return this.#lanes.reduce((sum, lane) => sum + (lane[index] ?? 0), 0)
  }

  #spread(name: SpreadName): CommitSpread {
    const start = STARTS[name]
    const buckets = BOUNDS[name].length + 1
    const counts = Array.from({ length: buckets }, (_, bucket) => this.#total(start + bucket))
    return { counts, sum: this.#total(start + buckets) }
  }
}
