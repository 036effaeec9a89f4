/** Runs equal calls at the same time once. A caller may leave without ending it for the others. */
export class SharedCalls {
  readonly #running = new Map<string, Running>()

  /** Joins the running call of this key, or begins it. The last caller that leaves aborts it. */
  join<T>(key: string, signal: AbortSignal, begin: (signal: AbortSignal) => Promise<T>): Promise<T> {
    if (signal.aborted) return Promise.reject(signal.reason)
    const running = this.#running.get(key) ?? this.#begin(key, begin)
    running.callers++
    return new Promise<T>((resolve, reject) => {
      const leave = () => {
        running.callers--
        if (running.callers === 0) this.#abandon(key, running, signal.reason)
        reject(signal.reason)
      }
      signal.addEventListener('abort', leave, { once: true })
      running.result
        .then((value) => resolve(value as T), reject)
        .finally(() => signal.removeEventListener('abort', leave))
    })
  }

  #begin(key: string, begin: (signal: AbortSignal) => Promise<unknown>): Running {
    const controller = new AbortController()
    const running: Running = { callers: 0, controller, result: begin(controller.signal) }
    this.#running.set(key, running)
    running.result.catch(() => {}).finally(() => this.#forget(key, running))
    return running
  }

  /** Forgets the call before it aborts: a new caller must not join a call that is ending. */
  #abandon(key: string, running: Running, reason: unknown): void {
    this.#forget(key, running)
    running.controller.abort(reason)
  }

  #forget(key: string, running: Running): void {
    if (this.#running.get(key) === running) this.#running.delete(key)
  }
}

interface Running {
  callers: number
  controller: AbortController
  result: Promise<unknown>
}
