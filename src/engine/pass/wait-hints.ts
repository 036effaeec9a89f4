/** A pass whose steps look for themselves whether their waits are over. */
interface Looker {
  look(): void
}

/**
 * Hints, for the passes of one worker, that an event or a run may have ended a wait. None is lost:
 * the count tells whether one came since a look.
 */
export class WaitHints {
  readonly #lookers = new Set<Looker>()
  #count = 0

  get count(): number {
    return this.#count
  }

  add(looker: Looker): void {
    this.#lookers.add(looker)
  }

  delete(looker: Looker): void {
    this.#lookers.delete(looker)
  }

  hint(): void {
    this.#count += 1
    for (const looker of [...this.#lookers]) looker.look()
  }
}
