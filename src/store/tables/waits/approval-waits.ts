import { type Connection, JoinedTable } from '../../connection.ts'
import { ofRun } from '../../rows/run-sql.ts'
import { MAX_CARRIED } from '../approvals/approval-search.ts'

/** A step of a run. */
interface StepOfRun {
  runId: string
  step: string
}

interface Runs {
  wake: (runId: string) => Promise<boolean>
  /** Locks their rows, which come before those of their waits. */
  lock: (runIds: readonly string[]) => Promise<void>
}

/** The waits of steps for people: for an approval, or for the end of a stop. */
export class ApprovalWaits extends JoinedTable<Runs> {
  /** The waits of held effects that ask again. */
  readonly asking = new AskingTable(this.db, this.parts)
  readonly #sql = prepareStatements(this.db)

  /** The step of an effect waits until people have decided, or for the end of a `stop`. */
  async awaitPermit(runId: string, key: string, approval: string): Promise<void> {
    const asking: Asking = approval === 'stop' ? 'stop' : 'guard'
    await this.#sql.insertApproval.run({ runId, key, approval, asking })
  }

  /** The step of a question waits until people have decided. */
  async awaitAnswer(runId: string, key: string, approval: string): Promise<void> {
    await this.#sql.insertApproval.run({ runId, key, approval, asking: null })
  }

  /** The steps wait no longer. */
  readonly settle = this.write<[runId: string, keys: readonly string[]]>(
    `DELETE FROM wait WHERE run_id = ? AND ${this.db.sql.isOneOf('key', 'text')}`,
  )

  async wakeSteps(approval: string, steps: readonly StepOfRun[]): Promise<number> {
    await this.parts.lock([...new Set(steps.map(({ runId }) => runId))])
    return wakeRuns(await this.#sql.resolveSteps.all(approval, rowsOf(steps)), this.parts.wake)
  }

  async wakeAwaiting(approval: string): Promise<number> {
    await this.parts.lock(await this.#sql.awaiting.all(approval))
    return wakeRuns(await this.#sql.resolveApproval.all(approval), this.parts.wake)
  }
}

/** Wakes each run once; returns how many have woken. */
async function wakeRuns(runs: readonly string[], wake: (run: string) => Promise<boolean>): Promise<number> {
  let woken = 0
  for (const run of [...new Set(runs)].sort()) woken += (await wake(run)) ? 1 : 0
  return woken
}

/** Index: primary key of wait, except where one is named. */
function prepareStatements(db: Connection) {
  const isOneOf = `(run_id, key) IN (SELECT value ->> 0, value ->> 1 FROM ${db.sql.rows})`
  return {
    insertApproval: db.prepare(
      `INSERT INTO wait (run_id, key, approval, fence, round)
       VALUES (@runId, @key, @approval, ${ofRun('fence', '@runId')},
         CASE WHEN CAST(@asking AS text) IS NOT NULL
           THEN coalesce((SELECT round FROM asking_again WHERE what = @asking), 0) END)
       ON CONFLICT (run_id, key) DO UPDATE SET approval = excluded.approval, is_resolved = 0,
         fence = excluded.fence, round = excluded.round`,
    ),
    // Index: wait_approval, for this and the next.
    awaiting: db.pluck<[string], string>('SELECT DISTINCT run_id FROM wait WHERE approval = ? AND is_resolved = 0'),
    resolveApproval: db.pluck<[string], string>(
      'UPDATE wait SET is_resolved = 1 WHERE approval = ? AND is_resolved = 0 RETURNING run_id',
    ),
    resolveSteps: db.pluck<[string, string], string>(`UPDATE wait SET is_resolved = 1
         WHERE approval = ? AND is_resolved = 0 AND ${isOneOf}
         RETURNING run_id`),
  }
}

function rowsOf(steps: readonly StepOfRun[]): string {
  return JSON.stringify(steps.map(({ runId, step }) => [runId, step]))
}

/** The held effects that ask again: those of the guard, or those of a stop. */
type Asking = 'guard' | 'stop'

interface Place {
  approval: string
  run: string
}

/** Lets held effects ask again: their waits end at once, and their runs wake. See decision 82. */
class AskingTable extends JoinedTable<Runs> {
  readonly #sql = prepareAsking(this.db)

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
    const woken = await wakeRuns(
      found.map(({ run }) => run),
      this.parts.wake,
    )
    const last = found.length < MAX_CARRIED ? undefined : found.at(-1)
    await this.#sql.carry.run(last?.approval ?? null, last?.run ?? null, what)
    return woken
  }
}

/** Index: primary keys, and wait_approval, once per run. */
function prepareAsking(db: Connection) {
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
