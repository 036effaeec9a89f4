/** Upper bounds of the buckets, in seconds for times, in writes for sizes. */
export const COMMIT_SECONDS = [0.0001, 0.00025, 0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 1] as const
export const COMMIT_WRITES = [1, 2, 5, 10, 25, 50, 100] as const

/** Counts per bucket, the last one beyond all bounds, and the sum of what was observed. */
export interface CommitSpread {
  counts: readonly number[]
  sum: number
}

const BOUNDS = [COMMIT_SECONDS, COMMIT_SECONDS, COMMIT_WRITES] as const
/** Numbers of a spread: a count per bucket, one beyond all bounds, and the sum. */
const SIZES = BOUNDS.map((bounds) => bounds.length + 2)
const STARTS = SIZES.map((_, index) => SIZES.slice(0, index).reduce((sum, size) => sum + size, 0))

const SIZE = SIZES.reduce((sum, size) => sum + size, 0)

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
    this.#observe(0, ms / 1_000)
    this.#observe(1, syncMs / 1_000)
    this.#observe(2, writes)
  }

  read(): { seconds: CommitSpread; syncSeconds: CommitSpread; writes: CommitSpread } {
    return { seconds: this.#spread(0), syncSeconds: this.#spread(1), writes: this.#spread(2) }
  }

  #observe(spread: 0 | 1 | 2, value: number): void {
    const bounds: readonly number[] = BOUNDS[spread]
    const start = STARTS[spread] ?? 0
    let bucket = 0
    while (bucket < bounds.length && value > (bounds[bucket] ?? 0)) bucket++
    const numbers = this.#numbers
    numbers[start + bucket] = (numbers[start + bucket] ?? 0) + 1
    const sum = start + bounds.length + 1
    numbers[sum] = (numbers[sum] ?? 0) + value
  }

  #spread(spread: 0 | 1 | 2): CommitSpread {
    const start = STARTS[spread] ?? 0
    const end = start + BOUNDS[spread].length + 1
    const total = (index: number) => this.#lanes.reduce((sum, lane) => sum + (lane[index] ?? 0), 0)
    return { counts: Array.from({ length: end - start }, (_, bucket) => total(start + bucket)), sum: total(end) }
  }
}
