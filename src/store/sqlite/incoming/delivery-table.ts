import { newId } from '../../../core/ids.ts'
import type {
  DeliveryReceipt,
  IncomingDelivery,
  Refusal,
  RefusalTally,
  RefusedDelivery,
} from '../../../core/incoming/delivery.ts'
import { FIRST_FENCE } from '../../../core/runs/lease.ts'
import type { SqliteConnection } from '../database/connection.ts'
import { IS_READY } from '../database/is-ready.ts'
import { type EventTable, type SavedEvent, STREAM } from './event-table.ts'
import { SecretUses } from './secret-uses.ts'
import { UnmatchedTallyTable } from './unmatched-tally.ts'

/** Rows of refusals that are kept for each verdict. */
const MAX_REFUSALS = 10_000
/** Rows that one refusal removes at most. More than one, so that a lower limit is reached too. */
const MAX_REMOVED = 8

/** The write side of the delivery ledger. An accepted delivery stores its event and runs. */
export class DeliveryTable {
  /** A transaction watcher of the group commit. */
  readonly uses: SecretUses
  /** A transaction watcher, too. */
  readonly unmatched: UnmatchedTallyTable
  readonly #events: EventTable
  readonly #insert
  readonly #insertRun
  readonly #insertClaimed
  readonly #mayClaim
  readonly #count
  readonly #oldest
  readonly #delete
  readonly #tally
  readonly #maxRefusals: number

  constructor(db: SqliteConnection, events: EventTable, maxRefusals = MAX_REFUSALS) {
    this.#events = events
    this.uses = new SecretUses(db.raw)
    this.unmatched = new UnmatchedTallyTable(db.raw)
    this.#maxRefusals = maxRefusals
    this.#insert = db.prepare(
      `INSERT INTO delivery (id, endpoint_id, received_at, verdict, event_id, event_seq, body_bytes, facts)
       VALUES (?, ?, ?, ?, ?, ?, ?, ?)`,
    )
    this.#insertRun = db.prepare(
      `INSERT INTO run (id, workflow, status, event_seq, priority, created_at) VALUES (?, ?, 'pending', ?, ?, ?)`,
    )
    this.#insertClaimed = db.prepare(
      `INSERT INTO run (id, workflow, status, event_seq, priority, created_at, started_at, worker, code_hash, fence)
       VALUES (?, ?, 'running', ?, ?, ?, ?, ?, ?, ${FIRST_FENCE})`,
    )
    // A claim would give just this run: nothing is queued or due, and its workflow is not paused.
    // Index: the first rows of run_ready and run_waiting, and the primary key.
    this.#mayClaim = db
      .prepare<[number, string], number>(
        `SELECT NOT EXISTS (SELECT 1 FROM run WHERE ${IS_READY})
           AND NOT EXISTS (SELECT 1 FROM run WHERE status = 'waiting' AND due_at IS NOT NULL AND due_at <= ?)
           AND NOT EXISTS (SELECT 1 FROM workflow_pause WHERE workflow = ?)`,
      )
      .pluck()
    // Index: primary key.
    this.#count = db
      .prepare<[Refusal, number, number], number>(
        `INSERT INTO refusal_tally (verdict, listed, dropped) VALUES (?, ?, ?)
         ON CONFLICT (verdict) DO UPDATE SET listed = listed + excluded.listed, dropped = dropped + excluded.dropped
         RETURNING listed`,
      )
      .pluck()
    // Index: delivery_refused.
    this.#oldest = db
      .prepare<[Refusal, number], string>(
        'SELECT id FROM delivery WHERE verdict = ? AND event_id IS NULL ORDER BY id LIMIT ?',
      )
      .pluck()
    // Index: primary key.
    this.#delete = db.prepare('DELETE FROM delivery WHERE id = ?')
    this.#tally = db.prepare<[], RefusalTally>('SELECT verdict, listed, dropped FROM refusal_tally ORDER BY verdict')
  }

  async save(delivery: IncomingDelivery): Promise<DeliveryReceipt> {
    const saved = await this.#events.save(delivery)
    const receipt = await this.#startRuns(saved, delivery)
    const { id, endpointId, receivedAt, event, body, facts } = delivery
    const bodyBytes = Buffer.byteLength(body)
    await this.#insert.run(
      id,
      endpointId,
      receivedAt,
      receipt.verdict,
      event.id,
      saved.seq,
      bodyBytes,
      JSON.stringify(facts),
    )
    if (facts.secret !== undefined) this.uses.note(endpointId, facts.secret, receivedAt)
    if (facts.unmatched && receipt.verdict === 'accepted') this.unmatched.note(event.type, receivedAt)
    return receipt
  }

  async refuse({ id, endpointId, receivedAt, verdict, bodyBytes, facts }: RefusedDelivery): Promise<void> {
    await this.#insert.run(id, endpointId, receivedAt, verdict, null, null, bodyBytes, JSON.stringify(facts))
    const listed = (await this.#count.get(verdict, 1, 0)) ?? 0
    if (listed > this.#maxRefusals) await this.#makeRoom(verdict, Math.min(listed - this.#maxRefusals, MAX_REMOVED))
  }

  /** Counts refusals that have no row. */
  async countRefusals(unlisted: Partial<Record<Refusal, number>>): Promise<void> {
    for (const [verdict, count] of Object.entries(unlisted)) await this.#count.get(verdict as Refusal, 0, count)
  }

  async tallyRefusals(): Promise<RefusalTally[]> {
    return this.#tally.all()
  }

  async #makeRoom(verdict: Refusal, rows: number): Promise<void> {
    const oldest = await this.#oldest.all(verdict, rows)
    for (const id of oldest) await this.#delete.run(id)
    await this.#count.get(verdict, -oldest.length, oldest.length)
  }

  async #startRuns(saved: SavedEvent, delivery: IncomingDelivery): Promise<DeliveryReceipt> {
    if (saved.kind === 'known') return { verdict: saved.isSameBody ? 'duplicate' : 'conflict', runs: [] }
    const { arrivalClaim, workflows, receivedAt } = delivery
    const claim = arrivalClaim && (await this.#mayClaimAll(workflows, receivedAt)) ? arrivalClaim : null
    const runs: string[] = []
    for (const workflow of workflows) {
      const id = newId('run', receivedAt)
      const priority = delivery.priorities?.[workflow] ?? 0
      const row = [id, workflow, saved.seq, priority, receivedAt]
      if (claim) await this.#insertClaimed.run(...row, receivedAt, claim.worker, claim.codeHashes[workflow] ?? null)
      else await this.#insertRun.run(...row)
      runs.push(id)
    }
    if (claim === null) return { verdict: 'accepted', runs }
    return { verdict: 'accepted', runs, claimedWithEvent: { stream: STREAM, seq: saved.seq } }
  }

  async #mayClaimAll(workflows: readonly string[], now: number): Promise<boolean> {
    for (const workflow of workflows) if ((await this.#mayClaim.get(now, workflow)) !== 1) return false
    return true
  }
}
