import type { Database } from 'better-sqlite3'
import type { TransactionWatcher } from '../database/group-commit.ts'

/** A secret's row is written at most once in this time. */
const WRITE_EVERY_MS = 60_000

/** Records when each secret was last used, to the minute, in the commit of a delivery. */
export class SecretUses implements TransactionWatcher {
  readonly #write
  readonly #writtenAt = new Map<string, number>()

  constructor(db: Database) {
    // Index: primary key. Another process may have recorded a later use.
    this.#write = db.prepare(
      `UPDATE endpoint_secret SET last_used_at = @at
       WHERE endpoint_id = @endpointId AND position = @position AND coalesce(last_used_at, 0) < @at`,
    )
  }

  note(endpointId: string, position: number, at: number): void {
    const key = `${endpointId} ${position}`
    if (at - (this.#writtenAt.get(key) ?? Number.NEGATIVE_INFINITY) < WRITE_EVERY_MS) return
    this.#writtenAt.set(key, at)
    this.#write.run({ endpointId, position, at })
  }

  begun(): void {}

  /** The rollback may have undone a recorded use, so the next use is recorded again. */
  rolledBack(): void {
    this.#writtenAt.clear()
  }
}
