import { findCallPlace } from './find-call-place.ts'

/** Names whose places are kept for one function: code may make names of data. */
const MAX_NAMES = 1_000

/**
 * Where code calls its steps, by name: the first call of each in this process. A stack costs more
 * than a whole step, so it is taken once.
 */
export class CallPlaces {
  readonly #places = new Map<string, string | null>()
  readonly #changed = new Set<string>()

  note(name: string): void {
    if (!this.#places.has(name) && this.#places.size < MAX_NAMES) this.#places.set(name, findCallPlace())
  }

  find(name: string): string | null {
    return this.#places.get(name) ?? null
  }

  /** True the first time: what the code has changed in an open wait of this name is told once. */
  noteChange(name: string): boolean {
    if (this.#changed.has(name) || this.#changed.size >= MAX_NAMES) return false
    this.#changed.add(name)
    return true
  }

  /** Those of an author's function; another version of its code is another function. */
  static of(code: object): CallPlaces {
    const places = known.get(code) ?? new CallPlaces()
    known.set(code, places)
    return places
  }
}

/** A cache: every pass asks for the places of its workflow. */
const known = new WeakMap<object, CallPlaces>()
