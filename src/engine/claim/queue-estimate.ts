/** A claim asks for this many more runs than estimated: other processes enqueue, too. */
const SPARE = 8

/**
 * One worker's estimate of how many runs wait in the queue. It decides how many runs a claim asks
 * for, and whether a delivery may be claimed on arrival.
 */
export class QueueEstimate {
  #length = 0
  #asked = 0
  /** The estimate when the claim under way began. */
  #lengthAtAsk = 0

  /** Slots reserved for the claim under way. */
  get asked(): number {
    return this.#asked
  }

  /** True when no run waits, or the claim under way covers all that do. */
  get isCleared(): boolean {
    return this.#length <= this.#asked
  }

  add(runs: number): void {
    this.#length += runs
  }

  /**
   * How many runs to claim with `free` slots. `isShared`: deliveries are arriving; slots that no
   * queued run needs are kept for them.
   */
  ask(free: number, isShared: boolean): number {
    const spare = Math.min(SPARE, Math.ceil(free / 2))
    this.#asked = isShared ? Math.min(free, this.#length + spare) : free
    this.#lengthAtAsk = this.#length
    return this.#asked
  }

  /**
   * Fewer runs than asked for: the queue is empty. More than estimated: the estimate becomes twice
   * the number claimed.
   */
  receive(runs: number): void {
    if (runs < this.#asked) this.#length -= this.#lengthAtAsk
    else this.#length = Math.max(this.#length - runs, runs > this.#lengthAtAsk ? 2 * runs : 0)
  }

  /** The claim has ended, whether or not it succeeded. */
  release(): void {
    this.#asked = 0
  }
}
