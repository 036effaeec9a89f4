import { UpshotError } from '../../core/errors.ts'
import { Attempts } from './attempts.ts'
import type { Caller } from './caller.ts'

/** Actions of one caller within a minute. */
const MAX_ACTIONS = 120
/** Searches of one caller at a time. */
const MAX_SEARCHES = 2

/** Bounds what one caller may ask of a process. */
export class CallerLimits {
  readonly #actions = new Attempts(MAX_ACTIONS)
  readonly #searches = new Map<string, number>()

  /** Throws `too_many_requests` for the 121st action within a minute. */
  countAction(caller: Caller, now: number): void {
    const name = nameOf(caller)
    this.#actions.check(name, now)
    this.#actions.count(name)
  }

  /** Performs a search. Throws `too_many_requests` for the third one at a time. */
  async search<Answer>(caller: Caller, perform: () => Promise<Answer>): Promise<Answer> {
    const name = nameOf(caller)
    const open = this.#searches.get(name) ?? 0
    if (open >= MAX_SEARCHES) {
      throw new UpshotError('too_many_requests', 'Two of your searches are running already.', {
        details: { fix: 'Wait for their answers.' },
      })
    }
    this.#searches.set(name, open + 1)
    try {
      return await perform()
    } finally {
      const left = (this.#searches.get(name) ?? 1) - 1
      if (left === 0) this.#searches.delete(name)
      else this.#searches.set(name, left)
    }
  }
}

function nameOf({ kind, id }: Caller): string {
  return `${kind}:${id}`
}
