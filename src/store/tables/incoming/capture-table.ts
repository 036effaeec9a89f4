import { CAPTURE_LIMITS, type Capture } from '../../../core/incoming/delivery.ts'
import { JoinedTable } from '../../connection.ts'
import { captureOwner, type Vault } from '../../vault.ts'

interface CaptureRow {
  id: string
  endpointId: string
  receivedAt: number
  sealed: Uint8Array
}

/** The sealed JSON, which nobody can have changed; the body is in base64. */
interface SealedContent {
  headers: Record<string, string>
  body: string
}

/** Clocks of several receivers may differ by this much. */
const AHEAD_MS = 60_000

/** Unverified deliveries of learning endpoints, sealed. */
export class CaptureTable extends JoinedTable<{ vault: Vault }> {
  // Index: primary key of endpoint. Another process may have ended the learning meanwhile.
  readonly #insert = this.db.prepare(
    `INSERT INTO capture (id, endpoint_id, received_at, bytes, sealed)
     SELECT @id, id, @receivedAt, @bytes, @sealed FROM endpoint WHERE id = @endpointId AND status = 'learning'`,
  )
  // Index: capture_endpoint, backwards for the newest first.
  readonly #list = this.db.prepare<[string], CaptureRow>(
    'SELECT id, endpoint_id, received_at, sealed FROM capture WHERE endpoint_id = ? ORDER BY id',
  )
  readonly #sizes = this.db.prepare<[string], { id: string; receivedAt: number; bytes: number }>(
    'SELECT id, received_at, bytes FROM capture WHERE endpoint_id = ? ORDER BY id DESC',
  )
  // Index: primary key.
  readonly #delete = this.db.prepare('DELETE FROM capture WHERE id = ?')

  /**
   * Keeps a capture within `CAPTURE_LIMITS`. False when the endpoint is no longer in learning mode,
   * or the capture alone exceeds the limit.
   */
  async saveCapture({ id, endpointId, receivedAt, headers, body }: Capture): Promise<boolean> {
    const content: SealedContent = { headers, body: Buffer.from(body).toString('base64') }
    const text = JSON.stringify(content)
    const bytes = body.byteLength + JSON.stringify(headers).length
    if (bytes > CAPTURE_LIMITS.bytes) return false
    const sealed = this.parts.vault.seal(captureOwner(endpointId, id), text)
    if ((await this.#insert.run({ id, endpointId, receivedAt, bytes, sealed })).changes === 0) return false
    await this.#makeRoom(endpointId, receivedAt)
    return true
  }

  /** Oldest first. */
  async listCaptures(endpointId: string): Promise<Capture[]> {
    return (await this.#list.all(endpointId)).map((row) => {
      const text = this.parts.vault.open(captureOwner(endpointId, row.id), row.sealed)
      const { headers, body } = JSON.parse(text) as SealedContent
      return { id: row.id, endpointId, receivedAt: row.receivedAt, headers, body: Buffer.from(body, 'base64') }
    })
  }

  readonly dropCaptures = this.write<[endpointId: string]>('DELETE FROM capture WHERE endpoint_id = ?')

  /**
   * Keeps the newest: a sender of rubbish must send for ever to keep real deliveries out. Those of
   * a clock that was ahead go first.
   */
  async #makeRoom(endpointId: string, now: number): Promise<void> {
    const isAhead = ({ receivedAt }: { receivedAt: number }) => Number(receivedAt > now + AHEAD_MS)
    const newest = (await this.#sizes.all(endpointId)).sort((one, other) => isAhead(one) - isAhead(other))
    let bytes = 0
    for (const [index, capture] of newest.entries()) {
      bytes += capture.bytes
      if (index >= CAPTURE_LIMITS.count || bytes > CAPTURE_LIMITS.bytes) await this.#delete.run(capture.id)
    }
  }
}
