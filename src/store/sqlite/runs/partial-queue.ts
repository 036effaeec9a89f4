import type { Database } from 'better-sqlite3'
import { IS_READY } from '../../tables/runs/claim-reader.ts'

/** Ids that one look finds beyond those asked for, so that the next claims need no look. */
const LOOK_AHEAD = 200
/** A look that took 1 ms is repeated after 20 ms. Looks then take at most 5 % of the time. */
const REST = 20

/**
 * The queue of a worker that lacks workflows of others at work. It leaves their runs to them, and
 * looks past any number of those. See decision 39.
 */
export class PartialQueue {
  readonly #due
  readonly #ready
  readonly #isReady
  #ahead: { foreign: string; ids: string[] } = { foreign: '', ids: [] }
  #restsUntil = 0

  constructor(db: Database) {
    // Index: work_waiting.
    this.#due = db
      .prepare<[number, string, number], string>(
        `SELECT run_id FROM work WHERE status = 'waiting' AND due_at IS NOT NULL AND due_at <= ?
           AND workflow NOT IN (SELECT value FROM json_each(?)) ORDER BY due_at LIMIT ?`,
      )
      .pluck()
    // Index: work_ready, in its order.
    this.#ready = db
      .prepare<[string, number], string>(
        `SELECT run_id FROM work WHERE ${IS_READY} AND workflow NOT IN (SELECT value FROM json_each(?))
         ORDER BY turn, run_id LIMIT ?`,
      )
      .pluck()
    // Index: primary key.
    this.#isReady = db.prepare<[string], number>(`SELECT 1 FROM work WHERE run_id = ? AND ${IS_READY}`).pluck()
  }

  /** Due runs, then ready ones. `foreign`: JSON of the workflows that only others have. */
  list(limit: number, now: number, foreign: string): string[] {
    const due = this.#due.all(now, foreign, limit)
    return due.length < limit ? [...due, ...this.#listReady(limit - due.length, foreign)] : due
  }

  #listReady(limit: number, foreign: string): string[] {
    if (this.#ahead.foreign !== foreign) this.#ahead = { foreign, ids: [] }
    this.#ahead.ids = this.#ahead.ids.filter((id) => this.#isReady.get(id) !== undefined)
    if (this.#ahead.ids.length < limit && performance.now() >= this.#restsUntil) this.#look(limit, foreign)
    return this.#ahead.ids.slice(0, limit)
  }

  #look(limit: number, foreign: string): void {
    const began = performance.now()
    this.#ahead.ids = this.#ready.all(foreign, limit + LOOK_AHEAD)
    const endedAt = performance.now()
    this.#restsUntil = endedAt + REST * (endedAt - began)
  }
}
