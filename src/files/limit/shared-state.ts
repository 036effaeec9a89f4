import { UpshotError } from '../../core/errors.ts'
import { type LimiterState, type LimiterStore, OPEN_STATE } from './limiter-store.ts'

/** Saves in a row that may fail. Each of them means that another process saved, so few do. */
const MAX_SAVES = 1_000

/** The state of one key, shared by every process on its store. See decision 22. */
export class SharedState {
  readonly #key: string
  readonly #store: LimiterStore
  #last: Promise<unknown> = Promise.resolve()

  constructor({ key, store }: { key: string; store: LimiterStore }) {
    this.#key = key
    this.#store = store
  }

  /**
   * Saves the state that `change` makes of the stored one; giving back the same object writes
   * nothing. Calls it again when another process saved first. One change is made at a time.
   */
  update<T extends { state: LimiterState }>(change: (state: LimiterState) => T): Promise<T> {
    const mine = this.#last.then(() => this.#update(change))
    this.#last = mine.catch(() => {})
    return mine
  }

  async #update<T extends { state: LimiterState }>(change: (state: LimiterState) => T): Promise<T> {
    for (let attempt = 1; attempt <= MAX_SAVES; attempt++) {
      const { state, version } = await this.#load()
      const made = change(state)
      if (made.state === state || (await this.#store.save(this.#key, made.state, version))) return made
    }
    const what = `The LimiterStore refused ${MAX_SAVES.toLocaleString('en')} saves in a row.`
    const rule = '"save" gives true where the stored version, 0 for none, is the given one; then "load" gives the next.'
    throw new UpshotError('invalid_config', `${what} ${rule}`)
  }

  async #load(): Promise<{ state: LimiterState; version: number }> {
    const loaded = (await this.#store.load(this.#key)) ?? { state: OPEN_STATE, version: 0 }
    if (Array.isArray(loaded.state?.starts)) return loaded
    const found = typeof loaded.state === 'string' ? 'text: parse it as JSON' : typeof loaded.state
    throw new UpshotError('invalid_config', `The LimiterStore gave no state that "save" was given, but ${found}.`)
  }
}
