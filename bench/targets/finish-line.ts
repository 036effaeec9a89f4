/** Counts completed runs, and times a burst from its first delivery to the end of its last run. */
export class FinishLine {
  #completed = 0
  #begunAt = 0
  #lastEndAt = 0
  #awaited = { count: Infinity, resolve: () => {} }

  get completed(): number {
    return this.#completed
  }

  /** On the clock of `performance.now()`. */
  get lastEndAt(): number {
    return this.#lastEndAt
  }

  delivered(): void {
    if (this.#begunAt === 0) this.#begunAt = performance.now()
  }

  passed(): void {
    this.#completed += 1
    this.#lastEndAt = performance.now()
    if (this.#completed >= this.#awaited.count) this.#awaited.resolve()
  }

  /** Resolves when this process has completed `count` runs. One caller at a time. */
  reach(count: number): Promise<void> {
    return new Promise((resolve) => {
      this.#awaited = { count, resolve }
      if (this.#completed >= count) resolve()
    })
  }

  /** Calls about bursts, for `answerCalls` of a target with a belt. */
  readonly calls = {
    /** Returns the runs completed so far. The next delivery begins a burst. */
    expectBurst: () => {
      this.#begunAt = 0
      return this.#completed
    },
    /** Milliseconds from the first delivery of a burst until `count` runs are completed. */
    msOfBurst: async (count: number) => {
      await this.reach(count)
      return this.#lastEndAt - this.#begunAt
    },
  }
}
