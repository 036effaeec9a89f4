import type { Database } from 'better-sqlite3'
import type { DeliveryReceipt, IncomingDelivery, RefusedDelivery } from '../../core/delivery.ts'
import { newId } from '../../core/ids.ts'
import type { EventTable, SavedEvent } from './event-table.ts'
import { SecretUses } from './secret-uses.ts'

/** The ledger of requests; an accepted one brings its event and starts its runs. */
export class DeliveryTable {
  /** Told when a transaction is rolled back. */
  readonly uses: SecretUses
  readonly #events: EventTable
  readonly #insert
  readonly #insertRun

  constructor(db: Database, events: EventTable) {
    this.#events = events
    this.uses = new SecretUses(db)
    this.#insert = db.prepare(
      `INSERT INTO delivery (id, endpoint_id, received_at, verdict, event_id, event_seq, body_bytes, facts)
       VALUES (?, ?, ?, ?, ?, ?, ?, ?)`,
    )
    this.#insertRun = db.prepare(
      `INSERT INTO run (id, workflow, status, event_seq, created_at) VALUES (?, ?, 'pending', ?, ?)`,
    )
  }

  save(delivery: IncomingDelivery): DeliveryReceipt {
    const saved = this.#events.save(delivery)
    const receipt = this.#startRuns(saved, delivery)
    const { id, endpointId, receivedAt, event, body, facts } = delivery
    const bodyBytes = Buffer.byteLength(body)
    this.#insert.run(id, endpointId, receivedAt, receipt.verdict, event.id, saved.seq, bodyBytes, JSON.stringify(facts))
    if (facts.secret !== undefined) this.uses.note(endpointId, facts.secret, receivedAt)
    return receipt
  }

  refuse({ id, endpointId, receivedAt, verdict, bodyBytes, facts }: RefusedDelivery): void {
    this.#insert.run(id, endpointId, receivedAt, verdict, null, null, bodyBytes, JSON.stringify(facts))
  }

  #startRuns(saved: SavedEvent, delivery: IncomingDelivery): DeliveryReceipt {
    if (saved.kind === 'known') return { verdict: saved.isSameBody ? 'duplicate' : 'conflict', runs: [] }
    const runs = delivery.workflows.map((workflow) => {
      const id = newId('run', delivery.receivedAt)
      this.#insertRun.run(id, workflow, saved.seq, delivery.receivedAt)
      return id
    })
    return { verdict: 'accepted', runs }
  }
}
