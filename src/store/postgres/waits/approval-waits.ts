import type { Connection } from '../database/connection.ts'
import type { RunTable } from '../runs/run-table.ts'
import { type Asking, AskingTable } from './asking-table.ts'

/** A step of a run. */
interface StepOfRun {
  runId: string
  step: string
}

/** The waits of steps for people: for an approval, or for the end of a stop. */
export class ApprovalWaits {
  /** The waits of held effects that ask again. */
  readonly asking: AskingTable
  readonly #runs: RunTable
  readonly #sql

  constructor(db: Connection, runs: RunTable) {
    this.#runs = runs
    this.#sql = prepareStatements(db)
    this.asking = new AskingTable(db, (run) => runs.wake(run))
  }

  /** The step of an effect waits until people have decided, or for the end of a `stop`. */
  async awaitPermit(runId: string, key: string, approval: string): Promise<void> {
    const asking: Asking = approval === 'stop' ? 'stop' : 'guard'
    await this.#sql.insertApproval.run({ runId, key, approval, asking })
  }

  /** The step of a question waits until people have decided. */
  async awaitAnswer(runId: string, key: string, approval: string): Promise<void> {
    await this.#sql.insertApproval.run({ runId, key, approval, asking: null })
  }

  /** The step waits no longer. */
  async settle(runId: string, key: string): Promise<void> {
    await this.#sql.settle.run(runId, key)
  }

  /** Steps that wait for an approval wait for another one from now on. */
  async moveWaits(steps: readonly StepOfRun[], { from, to }: { from: string; to: string }): Promise<void> {
    const { runs, keys } = columnsOf(steps)
    await this.#sql.moveApproval.run(to, from, runs, keys)
  }

  /** Resolves the waits of these steps for an approval, and wakes their runs. */
  async wakeSteps(approval: string, steps: readonly StepOfRun[]): Promise<number> {
    const { runs, keys } = columnsOf(steps)
    return this.#wakeRuns(await this.#sql.resolveSteps.all(approval, runs, keys))
  }

  /** Resolves the waits for an approval, and wakes their runs. */
  async wakeAwaiting(approval: string): Promise<number> {
    return this.#wakeRuns(await this.#sql.resolveApproval.all(approval))
  }

  async #wakeRuns(runs: readonly string[]): Promise<number> {
    let woken = 0
    for (const run of [...new Set(runs)].sort()) woken += (await this.#runs.wake(run)) ? 1 : 0
    return woken
  }
}

/** Index: primary key of wait, except where one is named. */
function prepareStatements(db: Connection) {
  return {
    insertApproval: db.prepare(
      `INSERT INTO wait (run_id, key, approval, fence, round)
       VALUES (@runId, @key, @approval, (SELECT fence FROM work WHERE run_id = @runId),
         CASE WHEN @asking::text IS NOT NULL
           THEN coalesce((SELECT round FROM asking_again WHERE what = @asking), 0) END)
       ON CONFLICT (run_id, key) DO UPDATE SET approval = excluded.approval, is_resolved = 0,
         fence = excluded.fence, round = excluded.round`,
    ),
    // Index: wait_approval.
    resolveApproval: db
      .prepare<[string], string>(
        'UPDATE wait SET is_resolved = 1 WHERE approval = ? AND is_resolved = 0 RETURNING run_id',
      )
      .pluck(),
    moveApproval: db.prepare(
      `UPDATE wait SET approval = ?
       WHERE approval = ? AND (run_id, key) IN (SELECT * FROM unnest(?::text[], ?::text[]))`,
    ),
    resolveSteps: db
      .prepare<[string, string[], string[]], string>(
        `UPDATE wait SET is_resolved = 1
         WHERE approval = ? AND is_resolved = 0 AND (run_id, key) IN (SELECT * FROM unnest(?::text[], ?::text[]))
         RETURNING run_id`,
      )
      .pluck(),
    settle: db.prepare('DELETE FROM wait WHERE run_id = ? AND key = ?'),
  }
}

function columnsOf(steps: readonly StepOfRun[]): { runs: string[]; keys: string[] } {
  return { runs: steps.map(({ runId }) => runId), keys: steps.map(({ step }) => step) }
}
