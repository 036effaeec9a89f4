import type { ClaimedRun } from '../../../core/runs/claim.ts'
import { PAUSED_REASON } from '../../../core/runs/run.ts'
import { JoinedTable } from '../../connection.ts'
import { type ClaimReader, type ClaimRow, prepareFirstClaimable } from '../../tables/runs/claim-reader.ts'
import type { ClaimKind, ClaimStart, PassedRun } from '../database/claim-marks.ts'
import type { Connection } from '../database/connection.ts'

/** The only row where runs have to be held before. */
interface Refused {
  id: null
}

interface ClaimOrder {
  limit: number
  now: number
  /** By which a claim whose answer was lost is found again. */
  number: number
  start: ClaimStart
}

type Marks = [turns: readonly number[], after: readonly string[], due: number | null]

/** Claims runs of the queue. Index: those of `work`, in their order. */
export class Claims extends JoinedTable<{ reader: ClaimReader }, Connection> {
  /** The first run that a claim would give the worker, were it free; null: none. */
  readonly findClaimable = prepareFirstClaimable(this.db)
  readonly #sql = {
    claim: this.db.prepare<[ClaimKind, string, number, number, number, ...Marks], (ClaimRow & PassedRun) | Refused>(
      'SELECT (claimed).*, passed_turn, passed_due, is_whole, era_1() AS era FROM claim_runs_1(?, ?, ?, ?, ?, ?, ?, ?)',
    ),
    // A run that a worker claims now is passed over. As a subquery, the function is called once;
    // without, once for each row of `work`.
    hold: this.db.pluck<
      [ClaimKind, string, number, number, ...Marks],
      string
    >(`UPDATE work SET status = 'waiting', due_at = NULL, awaits = 0, reason = '${PAUSED_REASON}'
         WHERE run_id = ANY ((SELECT ids FROM claimable_1(?, ?, ?, ?, ?, ?, ?))::text[])
           AND workflow IN (SELECT workflow FROM workflow_pause) RETURNING run_id`),
  }

  /** Null where runs of paused workflows are first in the queue: they have to be held before. */
  async claim(
    kind: ClaimKind,
    worker: string,
    { limit, now, number, start }: ClaimOrder,
  ): Promise<{ runs: ClaimedRun[]; passed: PassedRun[] } | null> {
    const rows = await this.#sql.claim.all(kind, worker, limit, now, number, ...marksOf(start))
    const passed = rows.filter((row) => row.id !== null)
    if (passed.length < rows.length) return null
    return { runs: await this.parts.reader.read(passed, () => ({ worker, now })), passed }
  }

  /** Holds the runs of paused workflows among the next ones, and returns their number. */
  async hold(kind: ClaimKind, worker: string, { limit, now, start }: Omit<ClaimOrder, 'number'>): Promise<number> {
    return (await this.#sql.hold.all(kind, worker, limit, now, ...marksOf(start))).length
  }
}

function marksOf({ turns, after, due }: ClaimStart): Marks {
  return [turns, after, due]
}
