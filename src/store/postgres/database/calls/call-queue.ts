interface Waiting<Call, Answer> {
  call: Call
  resolve: (answer: Answer) => void
  reject: (error: unknown) => void
  /** Uptime at which it was asked for. */
  at: number
}

/** Most calls of one message. */
const MOST = 500

/** Gathers calls while one message is under way, and makes all of them with the next. */
export class CallQueue<Call, Answer> {
  readonly #perform: (calls: readonly Call[]) => Promise<readonly Answer[]>
  readonly #waited: (ms: number) => void
  #waiting: Waiting<Call, Answer>[] = []
  #isBusy = false

  /**
   * `perform` makes calls in one commit, and gives their answers in the same order. `waited` hears
   * how long each of them waited.
   */
  constructor(perform: (calls: readonly Call[]) => Promise<readonly Answer[]>, waited: (ms: number) => void) {
    this.#perform = perform
    this.#waited = waited
  }

  add(call: Call): Promise<Answer> {
    return new Promise((resolve, reject) => {
      this.#waiting.push({ call, resolve, reject, at: performance.now() })
      if (!this.#isBusy) this.#begin()
    })
  }

  #begin(): void {
    this.#isBusy = true
    // After this turn, so that all of its calls are in one message.
    setImmediate(() => void this.#flush())
  }

  async #flush(): Promise<void> {
    const group = this.#waiting.slice(0, MOST)
    this.#waiting = this.#waiting.slice(MOST)
    const now = performance.now()
    for (const { at } of group) this.#waited(now - at)
    await this.#settle(group)
    if (this.#waiting.length > 0) this.#begin()
    else this.#isBusy = false
  }

  /** After a group failed, only the calls that fail alone are rejected. */
  async #settle(group: readonly Waiting<Call, Answer>[]): Promise<void> {
    try {
      const answers = await this.#perform(group.map(({ call }) => call))
      for (const [index, { resolve }] of group.entries()) resolve(answers[index] as Answer)
    } catch (error) {
      const isWhole = error instanceof Error && 'code' in error && error.code === 'store_unavailable'
      if (group.length === 1 || isWhole) for (const { reject } of group) reject(error)
      else for (const one of group) await this.#settle([one])
    }
  }
}

interface Calls {
  /** The newest call that stands alone. */
  alone: Promise<unknown> | null
  newest: Promise<unknown>
}

/**
 * Lets the calls about one run take effect in their order, and those about others side by side.
 * Calls of one queue keep their order in it, so that they wait for no other of the queue.
 */
export class RunOrder {
  readonly #calls = new Map<string, Calls>()

  /** Performs a call after all before it of the run. */
  perform<T>(runId: string, call: () => Promise<T>): Promise<T> {
    const before = this.#calls.get(runId)
    const done = before === undefined ? call() : before.newest.then(call, call)
    this.#keep(runId, { alone: done, newest: done })
    return done
  }

  /** Adds a call to the queue after those of the run that stand alone. */
  queue<T>(runId: string, call: () => Promise<T>): Promise<T> {
    const alone = this.#calls.get(runId)?.alone ?? null
    const done = alone === null ? call() : alone.then(call, call)
    this.#keep(runId, { alone, newest: done })
    return done
  }

  #keep(runId: string, calls: Calls): void {
    this.#calls.set(runId, calls)
    const forget = () => {
      if (this.#calls.get(runId) === calls) this.#calls.delete(runId)
    }
    calls.newest.then(forget, forget)
  }
}
