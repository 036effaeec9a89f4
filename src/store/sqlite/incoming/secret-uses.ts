import type { Database } from 'better-sqlite3'
import type { TransactionWatcher } from '../database/group-commit.ts'

/** How exact "last used" is: a secret's row is written once in this time at most. */
const WRITE_EVERY_MS = 60_000

/**
 * Remembers when each secret was last used. It writes in the commit of a delivery that happens
 * anyway, and rarely.
 */
export class SecretUses implements TransactionWatcher {
  readonly #write
  readonly #writtenAt = new Map<string, number>()

  constructor(db: Database) {
    // Index: primary key. A writer in another process may have been here later.
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

  /** What seemed written may not be: the next use is written again. */
  rolledBack(): void {
    this.#writtenAt.clear()
  }
}
