import type { UnmatchedTally } from '../../../core/incoming/delivery.ts'
import { Table } from '../../connection.ts'

/** Accepted events that no workflow starts on, a row per type. Index: primary key. */
export class UnmatchedTallyTable extends Table {
  /** Counts one. On PostgreSQL, the call that saves deliveries counts. */
  readonly note = this.write<[type: string, at: number]>(
    `INSERT INTO unmatched_tally (type, events, last_at) VALUES (?, 1, ?)
     ON CONFLICT (type) DO UPDATE SET events = unmatched_tally.events + 1,
       last_at = ${this.db.sql.greatest}(unmatched_tally.last_at, excluded.last_at)`,
  )

  /** Every type, a few dozen, that an accepted event ever had when no workflow started on it. */
  readonly tallyUnmatched = this.readRows<[], UnmatchedTally>(
    'SELECT type, events, last_at FROM unmatched_tally ORDER BY events DESC, type',
  )
}
