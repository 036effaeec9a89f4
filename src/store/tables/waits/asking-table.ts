import { type Connection, JoinedTable } from '../../connection.ts'
import { MAX_CARRIED } from '../approvals/approval-search.ts'

/** The held effects that ask again: those of the guard, or those of a stop. */
export type Asking = 'guard' | 'stop'

interface Place {
  approval: string
  run: string
}

/** Lets held effects ask again: their waits end at once, and their runs wake. See decision 82. */
export class AskingTable extends JoinedTable<{ wake: (runId: string) => Promise<boolean> }> {
  readonly #sql = prepareStatements(this.db)

  /** Ends the waits, and wakes the first runs; returns how many. Later commits wake the rest. */
  async begin(what: Asking): Promise<number> {
    await this.#sql.begin.run(what)
    return this.#wakeNext(what)
  }

  /** True where runs are left to wake. */
  async isUnderWay(): Promise<boolean> {
    return (await this.#sql.first.get()) !== undefined
  }

  /** Wakes some more runs and returns how many; null where none is left. */
  async carryOn(): Promise<number | null> {
    const what = await this.#sql.first.get()
    return what === undefined ? null : this.#wakeNext(what)
  }

  async #wakeNext(what: Asking): Promise<number> {
    const found = await this.#sql[what].all(MAX_CARRIED)
    let woken = 0
    for (const run of [...new Set(found.map((each) => each.run))].sort()) woken += (await this.parts.wake(run)) ? 1 : 0
    const last = found.length < MAX_CARRIED ? undefined : found.at(-1)
    await this.#sql.carry.run(last?.approval ?? null, last?.run ?? null, what)
    return woken
  }
}

/** Index: primary keys, and wait_approval, once per run. */
function prepareStatements(db: Connection) {
  const next = (column: string, condition: string) =>
    `(SELECT wait.${column} FROM wait
      WHERE (wait.approval, wait.run_id) > (reached.approval, reached.run_id) AND wait.approval IS NOT NULL
        AND ${condition}
      ORDER BY wait.approval, wait.run_id LIMIT 1)`
  // The first place is the one up to which runs are woken.
  const places = (what: Asking, condition: string) =>
    db.prepare<[number], Place>(
      `WITH RECURSIVE reached (approval, run_id) AS (
         SELECT after_approval, after_run FROM asking_again WHERE what = '${what}'
         UNION ALL
         SELECT ${next('approval', condition)}, ${next('run_id', condition)} FROM reached WHERE run_id IS NOT NULL
       ) SELECT approval, run_id AS run FROM reached WHERE run_id IS NOT NULL LIMIT ? OFFSET 1`,
    )
  return {
    begin: db.prepare<[Asking]>(
      `INSERT INTO asking_again (what, round, after_approval, after_run) VALUES (?, 1, '', '')
       ON CONFLICT (what) DO UPDATE SET round = asking_again.round + 1, after_approval = '', after_run = ''`,
    ),
    first: db.pluck<[], Asking>('SELECT what FROM asking_again WHERE after_run IS NOT NULL LIMIT 1'),
    carry: db.prepare<[string | null, string | null, Asking]>(
      'UPDATE asking_again SET after_approval = ?, after_run = ? WHERE what = ?',
    ),
    guard: places('guard', `EXISTS (SELECT 1 FROM approval WHERE approval.id = wait.approval AND kind = 'guard')`),
    stop: places('stop', `wait.approval = 'stop'`),
  }
}
