/** A claim asks for so many more than are known to wait: runs come from elsewhere, too. */
const SPARE = 8

/**
 * How many runs wait in the queue, as far as one worker knows. It decides how much a claim asks for
 * while deliveries come, and whether a delivery may be taken: one that stands behind others would
 * keep a slot for nothing.
 */
export class QueueEstimate {
  #length = 0
  #asked = 0
  /** How many were known when the claim under way was asked. */
  #lengthThen = 0

  /** Slots that are kept for what a claim under way brings. */
  get asked(): number {
    return this.#asked
  }

  /** Nobody waits, or the claim under way brings whoever does. */
  get isCleared(): boolean {
    return this.#length <= this.#asked
  }

  /** Runs go to the queue. */
  add(runs: number): void {
    this.#length += runs
  }

  /**
   * How many runs to claim with `free` slots. `isShared`: deliveries come, and what nobody waits
   * for is left to them.
   */
  ask(free: number, isShared: boolean): number {
    const spare = Math.min(SPARE, Math.ceil(free / 2))
    this.#asked = isShared ? Math.min(free, this.#length + spare) : free
    this.#lengthThen = this.#length
    return this.#asked
  }

  /**
   * What the claim brought. Less than it asked for was all that there was. If it brought more than
   * were known, there are taken to be twice as many again.
   */
  receive(runs: number): void {
    if (runs < this.#asked) this.#length -= this.#lengthThen
    else this.#length = Math.max(this.#length - runs, runs > this.#lengthThen ? 2 * runs : 0)
  }

  /** The claim is over, or has failed. */
  release(): void {
    this.#asked = 0
  }
}
