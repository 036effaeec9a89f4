import { KEPT_ANSWER_MS, type KeptAnswer } from '../../../core/store/safety/access.ts'
import type { Connection } from '../../connection.ts'

/** First answers to requests with an `Idempotency-Key`. */
export class IdempotencyTable {
  readonly #prune
  readonly #insert
  readonly #find
  readonly #finish
  readonly #drop

  constructor(db: Connection) {
    // Index: kept_answer_age, then the primary key.
    this.#prune = db.prepare('DELETE FROM kept_answer WHERE at <= ?')
    this.#insert = db.prepare(
      'INSERT INTO kept_answer (caller, key, request, at) VALUES (?, ?, ?, ?) ON CONFLICT (caller, key) DO NOTHING',
    )
    this.#find = db.prepare<[string, string], KeptAnswer>(
      'SELECT request, answer FROM kept_answer WHERE caller = ? AND key = ?',
    )
    this.#finish = db.prepare('UPDATE kept_answer SET answer = ? WHERE caller = ? AND key = ?')
    this.#drop = db.prepare('DELETE FROM kept_answer WHERE caller = ? AND key = ?')
  }

  /** Null for the first request with the key; else that request, with its answer if it has one. */
  async begin(caller: string, key: string, request: string, now: number): Promise<KeptAnswer | null> {
    await this.#prune.run(now - KEPT_ANSWER_MS)
    if ((await this.#insert.run(caller, key, request, now)).changes === 1) return null
    return (await this.#find.get(caller, key)) ?? null
  }

  /** `answer` null: the request failed, so that the key may be used again. */
  async end(caller: string, key: string, answer: string | null): Promise<void> {
    if (answer === null) await this.#drop.run(caller, key)
    else await this.#finish.run(answer, caller, key)
  }
}
