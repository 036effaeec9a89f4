import { Table } from '../../connection.ts'

/** A secret's row is written at most once in this time. */
const WRITE_EVERY_MS = 60_000

/** Records when each secret was last used, to the minute. A watcher of SQLite's group commit. */
export class SecretUses extends Table {
  readonly #writtenAt = new Map<string, number>()
  // Index: primary key. Another process may have recorded a later use.
  readonly #write = this.db.prepare<[{ endpointId: string; position: number; at: number }]>(
    `UPDATE endpoint_secret SET last_used_at = @at
     WHERE endpoint_id = @endpointId AND position = @position AND coalesce(last_used_at, 0) < @at`,
  )

  async note(endpointId: string, position: number, at: number): Promise<void> {
    const key = `${endpointId} ${position}`
    if (at - (this.#writtenAt.get(key) ?? Number.NEGATIVE_INFINITY) < WRITE_EVERY_MS) return
    await this.#write.run({ endpointId, position, at })
    this.#writtenAt.set(key, at)
  }
  /** The rollback may have undone a recorded use, so the next use is recorded again. */
  rolledBack(): void {
    this.#writtenAt.clear()
  }
}
