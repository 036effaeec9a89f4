import type { UnmatchedTally } from '../../../core/incoming/delivery.ts'
import { Table } from '../../connection.ts'

/**
 * Counts accepted events that no workflow starts on: one row per type, written once a commit. A
 * watcher of SQLite's group commit; on PostgreSQL, the call that saves deliveries counts.
 */
export class UnmatchedTallyTable extends Table {
  #noted = new Map<string, { events: number; at: number }>()
  // Index: primary key.
  readonly #add = this.db.prepare<[string, number, number]>(
    `INSERT INTO unmatched_tally (type, events, last_at) VALUES (?, ?, ?)
     ON CONFLICT (type) DO UPDATE SET events = unmatched_tally.events + excluded.events,
       last_at = ${this.db.sql.greatest}(unmatched_tally.last_at, excluded.last_at)`,
  )

  note(type: string, at: number): void {
    const events = 1 + (this.#noted.get(type)?.events ?? 0)
    this.#noted.set(type, { events, at })
  }

  /** Every type, a few dozen, that an accepted event ever had when no workflow started on it. */
  readonly tallyUnmatched = this.readRows<[], UnmatchedTally>(
    'SELECT type, events, last_at FROM unmatched_tally ORDER BY events DESC, type',
  )

  async ending(): Promise<void> {
    if (this.#noted.size === 0) return
    for (const [type, { events, at }] of this.#noted) await this.#add.run(type, events, at)
    this.#noted.clear()
  }

  rolledBack(): void {
    this.#noted.clear()
  }
}
