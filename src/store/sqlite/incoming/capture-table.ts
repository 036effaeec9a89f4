import type { Database } from 'better-sqlite3'
import { z } from 'zod'
import { CAPTURE_LIMITS, type Capture } from '../../../core/incoming/delivery.ts'
import type { Vault } from '../../vault.ts'

interface CaptureRow {
  id: string
  endpoint_id: string
  received_at: number
  sealed: Uint8Array
}

/** What is sealed: text, as the vault takes it. */
const content = z.object({ headers: z.record(z.string(), z.string()), body: z.base64() })

/** Unverified deliveries of endpoints that learn, sealed in their rows. */
export class CaptureTable {
  readonly #vault: Vault
  readonly #insert
  readonly #list
  readonly #sizes
  readonly #delete
  readonly #drop

  constructor(db: Database, vault: Vault) {
    this.#vault = vault
    // Index: primary key of endpoint. What another process has pinned a moment ago gets no capture
    // any more.
    this.#insert = db.prepare(
      `INSERT INTO capture (id, endpoint_id, received_at, bytes, sealed)
       SELECT @id, id, @receivedAt, @bytes, @sealed FROM endpoint WHERE id = @endpointId AND status = 'learning'`,
    )
    // Index: capture_endpoint, in all of these; backwards for the newest first.
    this.#list = db.prepare<[string], CaptureRow>(
      'SELECT id, endpoint_id, received_at, sealed FROM capture WHERE endpoint_id = ? ORDER BY id',
    )
    this.#sizes = db.prepare<[string], { id: string; bytes: number }>(
      'SELECT id, bytes FROM capture WHERE endpoint_id = ? ORDER BY id DESC',
    )
    this.#drop = db.prepare('DELETE FROM capture WHERE endpoint_id = ?')
    // Index: primary key.
    this.#delete = db.prepare('DELETE FROM capture WHERE id = ?')
  }

  save({ id, endpointId, receivedAt, headers, body }: Capture): boolean {
    const text = JSON.stringify({ headers, body: Buffer.from(body).toString('base64') })
    const bytes = body.byteLength + JSON.stringify(headers).length
    if (bytes > CAPTURE_LIMITS.bytes) return false
    const sealed = this.#vault.seal(captureOwner(endpointId, id), text)
    if (this.#insert.run({ id, endpointId, receivedAt, bytes, sealed }).changes === 0) return false
    this.#makeRoom(endpointId)
    return true
  }

  list(endpointId: string): Capture[] {
    return this.#list.all(endpointId).map((row) => {
      const { headers, body } = content.parse(
        JSON.parse(this.#vault.open(captureOwner(endpointId, row.id), row.sealed)),
      )
      return { id: row.id, endpointId, receivedAt: row.received_at, headers, body: Buffer.from(body, 'base64') }
    })
  }

  drop(endpointId: string): void {
    this.#drop.run(endpointId)
  }

  /**
   * The newest stay: whoever fills the table with rubbish must go on doing so to keep the real ones
   * out.
   */
  #makeRoom(endpointId: string): void {
    let bytes = 0
    this.#sizes.all(endpointId).forEach((capture, index) => {
      bytes += capture.bytes
      if (index >= CAPTURE_LIMITS.count || bytes > CAPTURE_LIMITS.bytes) this.#delete.run(capture.id)
    })
  }
}

/** A sealed capture opens in its own row only. */
export function captureOwner(endpointId: string, id: string): string {
  return `capture ${endpointId} ${id}`
}
