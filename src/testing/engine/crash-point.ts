/** The fate of the write at which the engine dies: `lost`, or `kept` as the last one. */
export type CrashFate = 'lost' | 'kept'

/** Counts the journal writes of a scenario and kills the engine at one of them. */
export class CrashPoint {
  /** Journal writes in order, over all lives of the engine. */
  readonly writes: string[] = []
  /** The write at which the engine died; null before. */
  killedAt: string | null = null
  readonly #at: number
  readonly #fate: CrashFate

  /** `at` counts from 1; 0 never kills. */
  constructor(at: number, fate: CrashFate) {
    this.#at = at
    this.#fate = fate
  }

  decideFate(write: string): CrashFate | 'no crash' {
    this.writes.push(write)
    if (this.writes.length !== this.#at) return 'no crash'
    this.killedAt = write
    return this.#fate
  }
}
