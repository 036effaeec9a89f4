import type { ClaimedRun } from '../../../core/runs/claim.ts'
import { JoinedTable } from '../../connection.ts'
import type { ClaimReader, ClaimRow } from '../../tables/runs/claim-reader.ts'
import type { Call } from '../database/calls/call.ts'
import { bigints, texts } from '../database/calls/columns.ts'
import type { Connection } from '../database/connection.ts'
import type { JournalVerdict, PlainEnd } from './journal-queue.ts'

/** The end of a run that holds places. */
export interface LimitedEnd extends PlainEnd {
  /** By which the next run is claimed, and found where the answer was lost; null: none is. */
  claim: number | null
}

/** How a limited run has ended, and the run that is claimed in its place. */
export interface LimitedVerdict {
  verdict: JournalVerdict
  next: ClaimedRun | undefined
}

const STALE: LimitedVerdict = { verdict: 'stale', next: undefined }

type EndRow = { number: number; verdict: JournalVerdict } & (ClaimRow | { id: null })

/** Completes many limited runs in one call, each of which lets the next of its gates in. */
export class LimitedEnds extends JoinedTable<{ reader: ClaimReader }, Connection> {
  readonly #end: Call<EndRow> = this.db.prepareCall(
    `SELECT ended.number, verdict, next.*, era_1() AS era FROM end_limited_1(?, ?, ?, ?, ?, ?, ?) AS ended
       LEFT JOIN LATERAL claimed_by_1(ended.worker, ended.claim) AS next ON true`,
  )

  /** The verdict of each end, in their order. */
  async save(ends: readonly LimitedEnd[]): Promise<LimitedVerdict[]> {
    const rows = await this.#end.all(
      texts(ends, ({ lease }) => lease.runId),
      bigints(ends, ({ lease }) => lease.fence),
      texts(ends, ({ lease }) => lease.era ?? null),
      texts(ends, ({ output }) => output),
      bigints(ends, ({ now }) => now),
      texts(ends, ({ lease }) => lease.worker),
      bigints(ends, ({ claim }) => claim),
    )
    const facts = ({ number }: { number: number }) => ({
      worker: ends[number - 1]?.lease.worker ?? '',
      now: ends[number - 1]?.now ?? 0,
    })
    const handedOn = rows.filter((row) => row.id !== null)
    const runs = await this.parts.reader.read(handedOn, facts)
    const next = new Map(handedOn.map(({ number }, index) => [number, runs[index]]))
    const verdicts = new Map(rows.map(({ number, verdict }) => [number, { verdict, next: next.get(number) }]))
    return ends.map((_, index) => verdicts.get(index + 1) ?? STALE)
  }
}
