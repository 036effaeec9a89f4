/** Lets the calls about one run take effect in their order, and those about others side by side. */
export class RunOrder {
  readonly #last = new Map<string, Promise<unknown>>()

  perform<T>(runId: string, call: () => Promise<T>): Promise<T> {
    const before = this.#last.get(runId)
    const done = before === undefined ? call() : before.then(call, call)
    this.#last.set(runId, done)
    const forget = () => {
      if (this.#last.get(runId) === done) this.#last.delete(runId)
    }
    done.then(forget, forget)
    return done
  }
}
