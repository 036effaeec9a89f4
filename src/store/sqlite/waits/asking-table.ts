import type { Connection } from '../../connection.ts'
import { MAX_CARRIED } from '../../rows/approvals/approval-rows.ts'

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
    return this.#wakeFrom(what, { approval: '', run: '' })
  }

  /** Wakes some more runs and returns how many; null where none is left. */
  async carryOn(): Promise<number | null> {
    const next = await this.#sql.first.get()
    return next ? await this.#wakeFrom(next.what, next) : null
  }

  async #wakeFrom(what: Asking, place: Place): Promise<number> {
    let woken = 0
    let last = place
    for (let count = 0; count < MAX_CARRIED; count++) {
      const next = await this.#sql[what].get(last)
      if (!next) {
        await this.#sql.carry.run(null, null, what)
        return woken
      }
      woken += (await this.#wake(next.run)) ? 1 : 0
      last = next
    }
    await this.#sql.carry.run(last.approval, last.run, what)
    return woken
  }
}

/** Index: primary keys, and wait_approval for the next run. */
function prepareStatements(db: Connection) {
  return {
    begin: db.prepare<[Asking]>(
      `INSERT INTO asking_again (what, round) VALUES (?, 1) ON CONFLICT (what) DO UPDATE SET round = round + 1`,
    ),
    first: db.prepare<[], Place & { what: Asking }>(
      `SELECT what, after_approval AS approval, after_run AS run FROM asking_again WHERE after_run IS NOT NULL LIMIT 1`,
    ),
    carry: db.prepare('UPDATE asking_again SET after_approval = ?, after_run = ? WHERE what = ?'),
    guard: db.prepare<[Place], Place>(
      `SELECT wait.approval, wait.run_id AS run FROM wait JOIN approval ON approval.id = wait.approval
       WHERE wait.approval IS NOT NULL AND (wait.approval, wait.run_id) > (@approval, @run) AND kind = 'guard'
       ORDER BY wait.approval, wait.run_id LIMIT 1`,
    ),
    stop: db.prepare<[Place], Place>(
      `SELECT approval, run_id AS run FROM wait WHERE approval = 'stop' AND run_id > @run ORDER BY run_id LIMIT 1`,
    ),
  }
}
