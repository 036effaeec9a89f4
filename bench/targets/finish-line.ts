/**
 * Counts the runs that are completed, and times a burst from its first delivery to its last run.
 */
export class FinishLine {
  #completed = 0
  #begunAt = 0
  #lastEndAt = 0
  #awaited = { count: Infinity, resolve: () => {} }

  get completed(): number {
    return this.#completed
  }

  /** By `performance.now()`. */
  get lastEndAt(): number {
    return this.#lastEndAt
  }

  /** A delivery has come. */
  delivered(): void {
    if (this.#begunAt === 0) this.#begunAt = performance.now()
  }

  /** A run is completed. */
  passed(): void {
    this.#completed += 1
    this.#lastEndAt = performance.now()
    if (this.#completed >= this.#awaited.count) this.#awaited.resolve()
  }

  /** Resolves when so many runs of this process are completed. */
  reach(count: number): Promise<void> {
    return new Promise((resolve) => {
      this.#awaited = { count, resolve }
      if (this.#completed >= count) resolve()
    })
  }

  /** What a target with a belt answers about its bursts. */
  readonly calls = {
    /** Gives the number of runs completed so far; the next delivery begins a burst. */
    expectBurst: () => {
      this.#begunAt = 0
      return this.#completed
    },
    /** Milliseconds from the first delivery of a burst until so many runs in all were completed. */
    msOfBurst: async (count: number) => {
      await this.reach(count)
      return this.#lastEndAt - this.#begunAt
    },
  }
}
