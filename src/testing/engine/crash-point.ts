/**
 * What becomes of the write at which the engine dies: it is lost with everything after it, or it is
 * the last one kept.
 */
export type CrashFate = 'lost' | 'kept'

/** Counts the journal writes of a scenario, and lets the engine die at one of them. */
export class CrashPoint {
  /** What was written, in order, over all lives of the engine. */
  readonly writes: string[] = []
  /** The write at which it struck; null until it does. */
  struckAt: string | null = null
  readonly #at: number
  readonly #fate: CrashFate

  /** `at` is counted from 1; 0 never strikes. */
  constructor(at: number, fate: CrashFate) {
    this.#at = at
    this.#fate = fate
  }

  meet(write: string): CrashFate | 'goes through' {
    this.writes.push(write)
    if (this.writes.length !== this.#at) return 'goes through'
    this.struckAt = write
    return this.#fate
  }
}
