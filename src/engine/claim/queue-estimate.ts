/** A claim asks for this many more runs than estimated: other processes enqueue, too. */
const SPARE = 8

const LENGTH = 0
const ASKED = 1

/**
 * One worker's estimate of how many runs wait in the queue. It decides how many runs a claim asks
 * for, and whether a delivery may be claimed on arrival. Deliveries may be added on another thread.
 */
export class QueueEstimate {
  readonly #cells: Int32Array<ArrayBufferLike>
  /** The estimate when the claim under way began. */
  #lengthAtAsk = 0

  /** `cells`: two counts, in memory that both threads share. */
  constructor(cells: Int32Array<ArrayBufferLike> = new Int32Array(2)) {
    this.#cells = cells
  }

  /** Slots reserved for the claim under way. */
  get asked(): number {
    return Atomics.load(this.#cells, ASKED)
  }

  /** True when no run waits, or the claim under way covers all that do. */
  get isCleared(): boolean {
    return this.#length <= this.asked
  }

  get #length(): number {
    return Atomics.load(this.#cells, LENGTH)
  }

  add(runs: number): void {
    Atomics.add(this.#cells, LENGTH, runs)
  }

  /**
   * How many runs to claim with `free` slots. `isShared`: deliveries are arriving; slots that no
   * queued run needs are kept for them.
   */
  ask(free: number, isShared: boolean): number {
    const spare = Math.min(SPARE, Math.ceil(free / 2))
    this.#lengthAtAsk = this.#length
    const asked = isShared ? Math.min(free, this.#lengthAtAsk + spare) : free
    Atomics.store(this.#cells, ASKED, asked)
    return asked
  }

  /**
   * Fewer runs than asked for: the queue is empty. More than estimated: the estimate becomes twice
   * the number claimed.
   */
  receive(runs: number): void {
    const length = this.#length
    const rest = Math.max(length - runs, runs > this.#lengthAtAsk ? 2 * runs : 0)
    this.add(runs < this.asked ? -this.#lengthAtAsk : rest - length)
  }

  /** The claim has ended, whether or not it succeeded. */
  release(): void {
    Atomics.store(this.#cells, ASKED, 0)
  }
}
