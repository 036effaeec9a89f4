import type { UnmatchedTally } from '../../../core/incoming/delivery.ts'
import type { Connection } from '../database/connection.ts'

/** Accepted events that no workflow starts on, one row per type; the call of a delivery counts. */
export class UnmatchedTallyTable {
  readonly #list

  constructor(db: Connection) {
    // A few dozen rows: the types of one service.
    this.#list = db.prepare<[], UnmatchedTally>(
      'SELECT type, events, last_at AS lastAt FROM unmatched_tally ORDER BY events DESC, type',
    )
  }

  list(): Promise<UnmatchedTally[]> {
    return this.#list.all()
  }
}
