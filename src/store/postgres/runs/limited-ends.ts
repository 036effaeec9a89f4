import { bigintArray, textArray } from '../database/binary-array.ts'
import type { Connection, Statement } from '../database/connection.ts'
import type { JournalVerdict, PlainEnd } from './journal-queue.ts'

const PARAMETERS = 5

/** Completes many limited runs in one call, each of which lets the next of its gates in. */
export class LimitedEnds {
  readonly #end: Statement<unknown[], { number: number; verdict: JournalVerdict }>

  constructor(db: Connection) {
    this.#end = db.prepare(`SELECT number, verdict FROM end_limited_1(${Array(PARAMETERS).fill('?')})`)
  }

  /** The verdict of each end, in their order. */
  async save(ends: readonly PlainEnd[]): Promise<JournalVerdict[]> {
    const rows = await this.#end.all(
      textArray(ends.map(({ lease }) => lease.runId)),
      bigintArray(ends.map(({ lease }) => lease.fence)),
      textArray(ends.map(({ lease }) => lease.era ?? null)),
      textArray(ends.map(({ output }) => output)),
      bigintArray(ends.map(({ now }) => now)),
    )
    const verdicts = new Map(rows.map(({ number, verdict }) => [number, verdict]))
    return ends.map((_, index) => verdicts.get(index + 1) ?? 'stale')
  }
}
