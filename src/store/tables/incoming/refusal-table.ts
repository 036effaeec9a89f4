import { MAX_REFUSALS, type Refusal, type RefusalTally, type RefusedDelivery } from '../../../core/incoming/delivery.ts'
import { type Connection, Table } from '../../connection.ts'

/** Rows that one refusal removes at most. More than one, so that a lower limit is reached too. */
const MAX_REMOVED = 8

/** The refusals in the delivery ledger, and their counts. */
export class RefusalTable extends Table {
  readonly #maxRefusals: number
  readonly #insert = this.db.prepare(
    `INSERT INTO delivery (id, endpoint_id, received_at, verdict, event_id, event_seq, body_bytes, facts)
     VALUES (?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT DO NOTHING`,
  )
  // Index: primary key.
  readonly #count = this.db.pluck<
    [Refusal, number, number],
    number
  >(`INSERT INTO refusal_tally (verdict, listed, dropped) VALUES (?, ?, ?)
       ON CONFLICT (verdict) DO UPDATE SET listed = refusal_tally.listed + excluded.listed,
         dropped = refusal_tally.dropped + excluded.dropped
       RETURNING listed`)
  // Index: delivery_refused.
  readonly #oldest = this.db.pluck<[Refusal, number], string>(
    'SELECT id FROM delivery WHERE verdict = ? AND event_id IS NULL ORDER BY id LIMIT ?',
  )
  // Index: primary key.
  readonly #delete = this.db.prepare('DELETE FROM delivery WHERE id = ?')

  constructor(db: Connection, maxRefusals = MAX_REFUSALS) {
    super(db)
    this.#maxRefusals = maxRefusals
  }

  /**
   * Adds a row for a refusal. The newest 10,000 rows of each verdict stay; the commit that exceeds
   * this deletes the oldest. A delivery that was accepted keeps its row: a process may give up on a
   * commit that the server makes.
   */
  async saveRefusal({ id, endpointId, receivedAt, verdict, bodyBytes, facts }: RefusedDelivery): Promise<void> {
    const row = [id, endpointId, receivedAt, verdict, null, null, bodyBytes, JSON.stringify(facts)] as const
    const { changes } = await this.#insert.run(...row)
    const listed = (await this.#count.get(verdict, changes, 1 - changes)) ?? 0
    if (listed > this.#maxRefusals) await this.#makeRoom(verdict, Math.min(listed - this.#maxRefusals, MAX_REMOVED))
  }

  /** Counts refusals that get no row because too many came at once. */
  async countRefusals(unlisted: Partial<Record<Refusal, number>>): Promise<void> {
    for (const [verdict, count] of Object.entries(unlisted)) await this.#count.get(verdict as Refusal, 0, count)
  }

  /** Every verdict that ever refused a delivery. */
  readonly tallyRefusals = this.readRows<[], RefusalTally>(
    'SELECT verdict, listed, dropped FROM refusal_tally ORDER BY verdict',
  )

  async #makeRoom(verdict: Refusal, rows: number): Promise<void> {
    const oldest = await this.#oldest.all(verdict, rows)
    for (const id of oldest) await this.#delete.run(id)
    await this.#count.get(verdict, -oldest.length, oldest.length)
  }
}
