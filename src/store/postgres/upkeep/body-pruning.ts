import type { PruneProgress, PruneSlice } from '../../../core/store/retention.ts'
import { JoinedTable } from '../../connection.ts'
import { findNeeder, type OldEvent } from '../../rows/run-sql.ts'
import type { Counted } from '../../tables/upkeep/pruning.ts'
import { countFitting } from '../../tables/upkeep/rest-pruning.ts'
import type { Connection } from '../database/connection.ts'
import type { WeekTable } from './week-table.ts'

/** Removes bodies that no unfinished run needs, except those of weeks that go at once. */
export class BodyPruning extends JoinedTable<{ weeks: WeekTable }, Connection> {
  /** Index: primary keys. */
  readonly #sql = {
    listOld: this.db.prepare<[{ receivedAt: number; seq: number; before: number; limit: number }], OldEvent>(
      OLD_BODIES,
    ),
    count: this.db.prepare<[{ receivedAt: number; seq: number; before: number; limit: number }], Counted>(
      `SELECT count(*) AS read, count(*) FILTER (WHERE needed_by IS NULL) AS rows,
         coalesce(sum(bytes) FILTER (WHERE needed_by IS NULL), 0)::bigint AS bytes FROM (${OLD_BODIES}) AS part`,
    ),
    drop: this.db.prepare<[number[], number[]]>(
      `DELETE FROM event_body WHERE (received_at, seq) IN (SELECT * FROM unnest(?::bigint[], ?::bigint[]))`,
    ),
  }

  async count(before: number, limit: number): Promise<Counted> {
    return (await this.#sql.count.get({ receivedAt: 0, seq: -1, before, limit })) ?? { read: 0, rows: 0 }
  }

  async prune({ before, limit, after }: PruneSlice): Promise<PruneProgress> {
    const from = after === null ? { receivedAt: 0, seq: -1 } : readPosition(after)
    const edge = Math.min(before, await this.parts.weeks.edge('payloads'))
    const found = await this.#sql.listOld.all({ ...from, before: edge, limit })
    const slice = found.slice(0, countFitting(found))
    const emptied = slice.filter((row) => row.neededBy === null)
    const [moments, seqs] = [emptied.map(({ receivedAt }) => receivedAt), emptied.map(({ seq }) => seq)]
    if (seqs.length > 0) await this.#sql.drop.run(moments, seqs)
    const last = slice.at(-1)
    const isLast = last === undefined || (slice.length === found.length && found.length < limit)
    return { pruned: emptied.length, next: isLast ? null : `${last.receivedAt}.${last.seq}` }
  }
}

function readPosition(after: string): { receivedAt: number; seq: number } {
  const [receivedAt = 0, seq = 0] = after.split('.').map(Number)
  return { receivedAt, seq }
}

/** The oldest bodies. Index: primary key. */
const OLD_BODIES = `SELECT seq, received_at, octet_length(body) AS bytes, ${findNeeder('event_body.seq')} AS needed_by
  FROM event_body WHERE received_at < @before AND (received_at, seq) > (@receivedAt::bigint, @seq::bigint)
  ORDER BY received_at, seq LIMIT @limit`
