import type { Connection } from '../../connection.ts'
import type { RunTable } from '../runs/run-table.ts'
import { type Asking, AskingTable } from './asking-table.ts'

/** The waits of steps for people: for an approval, or for the end of a stop. */
export class ApprovalWaits {
  /** The waits of held effects that ask again. */
  readonly asking: AskingTable
  readonly #runs: RunTable
  readonly #sql

  constructor(db: Connection, runs: RunTable) {
    this.#runs = runs
    this.#sql = prepareStatements(db)
    this.asking = new AskingTable(db, async (run) => runs.wake(run))
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

  /** A step that waits for an approval waits for another one from now on. */
  async moveWait(runId: string, key: string, { from, to }: { from: string; to: string }): Promise<void> {
    await this.#sql.moveApproval.run(to, runId, key, from)
  }

  /** Resolves the waits of these steps for an approval, and wakes their runs. */
  async wakeSteps(approval: string, steps: readonly { runId: string; step: string }[]): Promise<number> {
    const runs = new Set<string>()
    for (const { runId, step } of steps) {
      if ((await this.#sql.resolveStep.run(runId, step, approval)).changes > 0) runs.add(runId)
    }
    return this.#wakeRuns(runs)
  }

  /** Resolves the waits for an approval, and wakes their runs. */
  async wakeAwaiting(approval: string): Promise<number> {
    return this.#wakeRuns(new Set(await this.#sql.resolveApproval.all(approval)))
  }

  async #wakeRuns(runs: ReadonlySet<string>): Promise<number> {
    let woken = 0
    for (const run of runs) woken += (await this.#runs.wake(run)) ? 1 : 0
    return woken
  }
}

/** Index: primary key of wait, except where one is named. */
function prepareStatements(db: Connection) {
  return {
    insertApproval: db.prepare(
      `INSERT INTO wait (run_id, key, approval, fence, round)
       VALUES (@runId, @key, @approval, (SELECT fence FROM run WHERE id = @runId),
         iif(@asking IS NULL, NULL, coalesce((SELECT round FROM asking_again WHERE what = @asking), 0)))
       ON CONFLICT (run_id, key) DO UPDATE SET approval = excluded.approval, is_resolved = 0,
         fence = excluded.fence, round = excluded.round`,
    ),
    // Index: wait_approval.
    resolveApproval: db
      .prepare<[string], string>(
        'UPDATE wait SET is_resolved = 1 WHERE approval = ? AND is_resolved = 0 RETURNING run_id',
      )
      .pluck(),
    moveApproval: db.prepare('UPDATE wait SET approval = ? WHERE run_id = ? AND key = ? AND approval = ?'),
    resolveStep: db.prepare(
      'UPDATE wait SET is_resolved = 1 WHERE run_id = ? AND key = ? AND approval = ? AND is_resolved = 0',
    ),
    settle: db.prepare('DELETE FROM wait WHERE run_id = ? AND key = ?'),
  }
}
