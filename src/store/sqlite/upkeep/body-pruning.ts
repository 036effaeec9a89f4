import type { PruneProgress, PruneSlice } from '../../../core/store/retention.ts'
import { JoinedTable } from '../../connection.ts'
import { findNeeder, type OldEvent } from '../../rows/run-sql.ts'
import type { Counted } from '../../tables/upkeep/pruning.ts'
import { countFitting } from '../../tables/upkeep/rest-pruning.ts'
import type { EventTable } from '../incoming/event-table.ts'
import { blockOf } from '../search/subject-index.ts'

/** Events that one statement of a count reads. */
const EVENTS_AT_ONCE = 2_000

/** Empties bodies that no unfinished run needs. */
export class BodyPruning extends JoinedTable<{ events: EventTable }> {
  /** Index: primary keys. */
  readonly #sql = {
    listOld: this.db.prepare<[number, number], OldEvent>(OLD_EVENTS),
    // Whole blocks, whose bodies are all gone.
    dropSubjects: this.db.prepare<[number, number]>(
      `DELETE FROM event_subject WHERE (block, subject, seq) IN
         (SELECT block, subject, seq FROM event_subject WHERE block < ? LIMIT ?)`,
    ),
    mark: this.db.pluck<[string], number>(PRUNE_MARK),
    saveMark: this.db.prepare(
      `INSERT INTO prune_mark (kind, position) VALUES (?, ?)
       ON CONFLICT (kind) DO UPDATE SET position = excluded.position`,
    ),
  }

  /** Ends at the first event that is young enough, as a prune does. */
  async count(before: number, limit: number): Promise<Counted> {
    const total = { read: 0, rows: 0, bytes: 0 }
    let after = (await this.#sql.mark.get('payloads')) ?? 0
    while (total.read < limit) {
      const asked = Math.min(EVENTS_AT_ONCE, limit - total.read)
      const found = await this.#sql.listOld.all(after, asked)
      const old = found.slice(0, found.findIndex((row) => row.receivedAt >= before) >>> 0)
      const emptied = old.filter((row) => row.bytes > 0 && row.neededBy === null)
      total.read += old.length
      total.rows += emptied.length
      total.bytes += emptied.reduce((sum, { bytes }) => sum + bytes, 0)
      after = old.at(-1)?.seq ?? after
      if (old.length < asked) break
    }
    return total
  }

  async prune({ before, limit, after }: PruneSlice): Promise<PruneProgress> {
    const mark = (await this.#sql.mark.get('payloads')) ?? 0
    const from = after === null ? mark : Number(after)
    const found = await this.#sql.listOld.all(from, limit)
    const old = found.slice(0, found.findIndex((row) => row.receivedAt >= before) >>> 0)
    const slice = old.slice(0, countFitting(old))
    const firstNeeded = slice.find((row) => row.neededBy !== null)
    const emptied = slice.filter((row) => row.bytes > 0 && row.neededBy === null)
    for (const { seq } of emptied) await this.parts.events.dropBody(seq)
    await this.#sql.dropSubjects.run(blockOf(mark), limit)
    const end = slice.at(-1)?.seq ?? from
    // The next round begins at the first body that stayed, or at the end of this slice.
    if (from === mark) await this.#sql.saveMark.run('payloads', firstNeeded ? firstNeeded.seq - 1 : end)
    return { pruned: emptied.length, next: slice.length < limit && slice.length === old.length ? null : String(end) }
  }
}

/** The oldest events. Index: primary key. */
const OLD_EVENTS = `SELECT seq, received_at, octet_length(body) AS bytes, ${findNeeder('event.seq')} AS needed_by
  FROM event WHERE seq > ? ORDER BY seq LIMIT ?`

/** Position before the first event whose body may still be there. Index: primary key. */
const PRUNE_MARK = 'SELECT position FROM prune_mark WHERE kind = ?'
