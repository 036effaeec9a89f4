import { Table } from '../../connection.ts'
import { IS_READY } from '../../tables/runs/claim-reader.ts'

/** Ids that one look finds beyond those asked for, so that the next claims need no look. */
const LOOK_AHEAD = 200
/** A look that took 1 ms is repeated after 20 ms. Looks then take at most 5 % of the time. */
const REST = 20

/**
 * The queue of a worker that lacks workflows of others at work. It leaves their runs to them, and
 * looks past any number of those. See decision 39.
 */
export class PartialQueue extends Table {
  // Index: work_waiting.
  readonly #due = this.db.pluck<[number, string, number], string>(
    `SELECT run_id FROM work WHERE status = 'waiting' AND due_at IS NOT NULL AND due_at <= ?
       AND workflow NOT IN (SELECT value FROM json_each(?)) ORDER BY due_at LIMIT ?`,
  )
  // Index: work_ready, in its order.
  readonly #ready = this.db.pluck<[string, number], string>(
    `SELECT run_id FROM work WHERE ${IS_READY} AND workflow NOT IN (SELECT value FROM json_each(?))
     ORDER BY turn, run_id LIMIT ?`,
  )
  // Index: primary key.
  readonly #isReady = this.db.pluck<[string], number>(`SELECT 1 FROM work WHERE run_id = ? AND ${IS_READY}`)
  #ahead: { foreign: string; ids: string[] } = { foreign: '', ids: [] }
  #restsUntil = 0

  /** Due runs, then ready ones. `foreign`: JSON of the workflows that only others have. */
  async list(limit: number, now: number, foreign: string): Promise<string[]> {
    const due = await this.#due.all(now, foreign, limit)
    return due.length < limit ? [...due, ...(await this.#listReady(limit - due.length, foreign))] : due
  }

  async #listReady(limit: number, foreign: string): Promise<string[]> {
    if (this.#ahead.foreign !== foreign) this.#ahead = { foreign, ids: [] }
    const isReady = await Array.fromAsync(this.#ahead.ids, async (id) => (await this.#isReady.get(id)) !== undefined)
    this.#ahead.ids = this.#ahead.ids.filter((_, at) => isReady[at])
    if (this.#ahead.ids.length < limit && performance.now() >= this.#restsUntil) await this.#look(limit, foreign)
    return this.#ahead.ids.slice(0, limit)
  }

  async #look(limit: number, foreign: string): Promise<void> {
    const began = performance.now()
    this.#ahead.ids = await this.#ready.all(foreign, limit + LOOK_AHEAD)
    const endedAt = performance.now()
    this.#restsUntil = endedAt + REST * (endedAt - began)
  }
}
