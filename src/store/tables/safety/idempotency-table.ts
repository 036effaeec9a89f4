import { Table } from '../../connection.ts'

/** The first answers are kept for this long. */
const KEPT_ANSWER_MS = 86_400_000

/** A request with an `Idempotency-Key`, and its answer as JSON text; null: none yet. */
interface KeptAnswer {
  request: string
  answer: string | null
}

/** First answers to requests with an `Idempotency-Key`. */
export class IdempotencyTable extends Table {
  // Index: kept_answer_age, then the primary key.
  readonly #prune = this.db.prepare('DELETE FROM kept_answer WHERE at <= ?')
  readonly #insert = this.db.prepare(
    'INSERT INTO kept_answer (caller, key, request, at) VALUES (?, ?, ?, ?) ON CONFLICT (caller, key) DO NOTHING',
  )
  readonly #find = this.db.prepare<[string, string], KeptAnswer>(
    'SELECT request, answer FROM kept_answer WHERE caller = ? AND key = ?',
  )
  readonly #finish = this.db.prepare('UPDATE kept_answer SET answer = ? WHERE caller = ? AND key = ?')
  readonly #drop = this.db.prepare('DELETE FROM kept_answer WHERE caller = ? AND key = ?')

  /** Null for the first request with the caller's key; else that request. */
  async beginAnswer(
    { caller, key, request }: { caller: string; key: string; request: string },
    now: number,
  ): Promise<KeptAnswer | null> {
    await this.#prune.run(now - KEPT_ANSWER_MS)
    if ((await this.#insert.run(caller, key, request, now)).changes === 1) return null
    // The first request may have failed since, so that this one is the first.
    return (await this.#find.get(caller, key)) ?? this.beginAnswer({ caller, key, request }, now)
  }

  /** Keeps the answer; null: the request failed, and the key may be used again. */
  async endAnswer({ caller, key }: { caller: string; key: string }, answer: string | null): Promise<void> {
    if (answer === null) await this.#drop.run(caller, key)
    else await this.#finish.run(answer, caller, key)
  }
}
