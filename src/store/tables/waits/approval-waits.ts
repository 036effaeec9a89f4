import { type Connection, JoinedTable } from '../../connection.ts'
import { ofRun } from '../../rows/run-sql.ts'
import { type Asking, AskingTable } from './asking-table.ts'

/** A step of a run. */
interface StepOfRun {
  runId: string
  step: string
}

/** The waits of steps for people: for an approval, or for the end of a stop. */
export class ApprovalWaits extends JoinedTable<{ wake: (run: string) => Promise<boolean> }> {
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

  /** The step waits no longer. */
  readonly settle = this.write<[runId: string, key: string]>('DELETE FROM wait WHERE run_id = ? AND key = ?')

  /** Steps that wait for an approval wait for another one from now on. */
  async moveWaits(steps: readonly StepOfRun[], { from, to }: { from: string; to: string }): Promise<void> {
    await this.#sql.moveApproval.run(to, from, rowsOf(steps))
  }

  async wakeSteps(approval: string, steps: readonly StepOfRun[]): Promise<number> {
    return this.#wakeRuns(await this.#sql.resolveSteps.all(approval, rowsOf(steps)))
  }

  async wakeAwaiting(approval: string): Promise<number> {
    return this.#wakeRuns(await this.#sql.resolveApproval.all(approval))
  }

  async #wakeRuns(runs: readonly string[]): Promise<number> {
    let woken = 0
    for (const run of [...new Set(runs)].sort()) woken += (await this.parts.wake(run)) ? 1 : 0
    return woken
  }
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
    // Index: wait_approval.
    resolveApproval: db.pluck<[string], string>(
      'UPDATE wait SET is_resolved = 1 WHERE approval = ? AND is_resolved = 0 RETURNING run_id',
    ),
    moveApproval: db.prepare(
      `UPDATE wait SET approval = ?
       WHERE approval = ? AND ${isOneOf}`,
    ),
    resolveSteps: db.pluck<[string, string], string>(`UPDATE wait SET is_resolved = 1
         WHERE approval = ? AND is_resolved = 0 AND ${isOneOf}
         RETURNING run_id`),
  }
}

function rowsOf(steps: readonly StepOfRun[]): string {
  return JSON.stringify(steps.map(({ runId, step }) => [runId, step]))
}
