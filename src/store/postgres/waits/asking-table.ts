import { MAX_CARRIED } from '../../rows/approvals/approval-rows.ts'
import type { Connection } from '../database/connection.ts'

/** The held effects that ask again: those of the guard, or those of a stop. */
export type Asking = 'guard' | 'stop'

interface Place {
  approval: string
  run: string
}

/** Lets held effects ask again: their waits end at once, and their runs wake. See decision 82. */
export class AskingTable {
  readonly #wake: (runId: string) => Promise<boolean>
  readonly #sql

  /** `wake` returns true for a run that waited. */
  constructor(db: Connection, wake: (runId: string) => Promise<boolean>) {
    this.#wake = wake
    this.#sql = prepareStatements(db)
  }

  /** Ends the waits, and wakes the first runs; returns how many. Later commits wake the rest. */
  async begin(what: Asking): Promise<number> {
    await this.#sql.begin.run(what)
    return await this.#wakeFrom(what, { approval: '', run: '' })
  }

  /** True where runs are left to wake. */
  async isUnderWay(): Promise<boolean> {
    return (await this.#sql.first.get()) !== undefined
  }

  /** Wakes some more runs and returns how many; null where none is left. */
  async carryOn(): Promise<number | null> {
    const next = await this.#sql.first.get()
    return next ? await this.#wakeFrom(next.what, next) : null
  }

  async #wakeFrom(what: Asking, place: Place): Promise<number> {
    const found = await this.#sql[what].all({ ...place, limit: MAX_CARRIED })
    let woken = 0
    for (const run of [...new Set(found.map((each) => each.run))].sort()) woken += (await this.#wake(run)) ? 1 : 0
    const last = found.length < MAX_CARRIED ? undefined : found.at(-1)
    await this.#sql.carry.run(last?.approval ?? null, last?.run ?? null, what)
    return woken
  }
}

/** Index: primary keys, and wait_approval, once per run. */
function prepareStatements(db: Connection) {
  const next = (after: string) =>
    `SELECT wait.approval, wait.run_id FROM wait
     WHERE (wait.approval, wait.run_id) > ${after} AND wait.approval IS NOT NULL AND CONDITION
     ORDER BY wait.approval, wait.run_id LIMIT 1`
  const places = (condition: string) => {
    const select = (after: string) => next(after).replace('CONDITION', condition)
    return db.prepare<[Place & { limit: number }], Place>(
      `WITH RECURSIVE place (approval, run_id) AS (
         (${select('(@approval, @run)')})
         UNION ALL
         SELECT found.* FROM place CROSS JOIN LATERAL (${select('(place.approval, place.run_id)')}) AS found
       ) SELECT approval, run_id AS run FROM place LIMIT @limit`,
    )
  }
  return {
    begin: db.prepare<[Asking]>(
      `INSERT INTO asking_again (what, round) VALUES (?, 1)
       ON CONFLICT (what) DO UPDATE SET round = asking_again.round + 1`,
    ),
    first: db.prepare<[], Place & { what: Asking }>(
      `SELECT what, after_approval AS approval, after_run AS run FROM asking_again WHERE after_run IS NOT NULL LIMIT 1`,
    ),
    carry: db.prepare<[string | null, string | null, Asking]>(
      'UPDATE asking_again SET after_approval = ?, after_run = ? WHERE what = ?',
    ),
    guard: places(`EXISTS (SELECT 1 FROM approval WHERE approval.id = wait.approval AND kind = 'guard')`),
    stop: places(`wait.approval = 'stop'`),
  }
}
