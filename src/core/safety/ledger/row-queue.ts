import type { EffectRecord } from '../effect.ts'

interface Reads {
  listEffects(query: { after: number; limit: number }): Promise<EffectRecord[]>
}

const ROWS_A_PAGE = 5_000

/** The ledger from its oldest row on, a page at a time. */
export class RowQueue {
  readonly #store: Reads
  readonly #tell: (row: EffectRecord) => Promise<void>
  #page: readonly EffectRecord[] = []
  #next = 0
  #after = -Infinity
  #isAtEnd = false

  /** `tell` gets each row, those without a seal too. */
  constructor(store: Reads, tell: (row: EffectRecord) => Promise<void>) {
    this.#store = store
    this.#tell = tell
  }

  async takeUpTo(last: number): Promise<EffectRecord[]> {
    const taken: EffectRecord[] = []
    for (;;) {
      const row = this.#page[this.#next]
      if (row === undefined) {
        if (!(await this.#turn())) return taken
      } else if (row.seq > last) return taken
      else {
        taken.push(row)
        this.#next += 1
      }
    }
  }

  async countRest(): Promise<number> {
    let count = 0
    do {
      count += this.#page.length - this.#next
      this.#next = this.#page.length
    } while (await this.#turn())
    return count
  }

  /** False at the end. */
  async #turn(): Promise<boolean> {
    if (this.#isAtEnd) return false
    this.#page = await this.#store.listEffects({ after: this.#after, limit: ROWS_A_PAGE })
    this.#next = 0
    this.#after = this.#page.at(-1)?.seq ?? this.#after
    this.#isAtEnd = this.#page.length < ROWS_A_PAGE
    for (const row of this.#page) await this.#tell(row)
    return this.#page.length > 0
  }
}
