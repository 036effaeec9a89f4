import type { Database } from 'better-sqlite3'
import type {
  DeliveryReceipt,
  DeliveryRecord,
  IncomingDelivery,
  RefusedDelivery,
  Verdict,
} from '../../core/delivery.ts'
import { newId } from '../../core/ids.ts'
import type { EventTable } from './event-table.ts'

interface DeliveryRow {
  id: string
  endpoint_id: string | null
  received_at: number
  verdict: Verdict
  event_id: string | null
  body_bytes: number | null
  facts: string
}

/** The ledger of requests; an accepted one brings its event and starts its runs. */
export class DeliveryTable {
  readonly #events: EventTable
  readonly #insert
  readonly #insertRun
  readonly #list

  constructor(db: Database, events: EventTable) {
    this.#events = events
    this.#insert = db.prepare(
      `INSERT INTO delivery (id, endpoint_id, received_at, verdict, event_id, body_bytes, facts)
       VALUES (?, ?, ?, ?, ?, ?, ?)`,
    )
    this.#insertRun = db.prepare(
      `INSERT INTO run (id, workflow, status, event_seq, created_at) VALUES (?, ?, 'pending', ?, ?)`,
    )
    // Index: primary key, read backwards.
    this.#list = db.prepare<[number], DeliveryRow>('SELECT * FROM delivery ORDER BY id DESC LIMIT ?')
  }

  save(delivery: IncomingDelivery): DeliveryReceipt {
    const receipt = this.#saveEvent(delivery)
    const { id, endpointId, receivedAt, event, body, facts } = delivery
    const bodyBytes = Buffer.byteLength(body)
    this.#insert.run(id, endpointId, receivedAt, receipt.verdict, event.id, bodyBytes, JSON.stringify(facts))
    return receipt
  }

  refuse({ id, endpointId, receivedAt, verdict, bodyBytes, facts }: RefusedDelivery): void {
    this.#insert.run(id, endpointId, receivedAt, verdict, null, bodyBytes, JSON.stringify(facts))
  }

  list(limit: number): DeliveryRecord[] {
    return this.#list.all(limit).map((row) => ({
      id: row.id,
      endpointId: row.endpoint_id,
      receivedAt: row.received_at,
      verdict: row.verdict,
      eventId: row.event_id,
      bodyBytes: row.body_bytes,
      facts: JSON.parse(row.facts),
    }))
  }

  #saveEvent(delivery: IncomingDelivery): DeliveryReceipt {
    const saved = this.#events.save(delivery)
    if (saved.kind === 'known') return { verdict: saved.isSameBody ? 'duplicate' : 'conflict', runs: [] }
    const runs = delivery.workflows.map((workflow) => {
      const id = newId('run', delivery.receivedAt)
      this.#insertRun.run(id, workflow, saved.seq, delivery.receivedAt)
      return id
    })
    return { verdict: 'accepted', runs }
  }
}
