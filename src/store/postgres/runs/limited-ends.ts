import type { Call } from '../database/calls/call.ts'
import { bigints, texts } from '../database/calls/columns.ts'
import type { Connection } from '../database/connection.ts'
import type { JournalVerdict, PlainEnd } from './journal-queue.ts'

const PARAMETERS = 5

/** Completes many limited runs in one call, each of which lets the next of its gates in. */
export class LimitedEnds {
  readonly #end: Call<{ number: number; verdict: JournalVerdict }>

  constructor(db: Connection) {
    this.#end = db.prepareCall(`SELECT number, verdict FROM end_limited_1(${Array(PARAMETERS).fill('?')})`)
  }

  /** The verdict of each end, in their order. */
  async save(ends: readonly PlainEnd[]): Promise<JournalVerdict[]> {
    const rows = await this.#end.all(
      texts(ends, ({ lease }) => lease.runId),
      bigints(ends, ({ lease }) => lease.fence),
      texts(ends, ({ lease }) => lease.era ?? null),
      texts(ends, ({ output }) => output),
      bigints(ends, ({ now }) => now),
    )
    const verdicts = new Map(rows.map(({ number, verdict }) => [number, verdict]))
    return ends.map((_, index) => verdicts.get(index + 1) ?? 'stale')
  }
}
