import { UpshotError } from '../../../core/errors.ts'
import { newId } from '../../../core/ids.ts'
import { findObstacle, type Resolution } from '../../../core/runs/run.ts'
import { DIVERGED, type Fork, numberOf, planReset } from '../../../core/runs/step.ts'
import type { Invocation } from '../../../core/runs/wait.ts'
import { type Connection, JoinedTable } from '../../connection.ts'
import { EVENTS_OF, QUEUE_RUN } from '../../rows/run-sql.ts'
import type { WithdrawalTable } from '../../tables/approvals/withdrawal-table.ts'
import type { AnnotationTable } from './annotation-table.ts'
import type { ClosingTable } from './closing-table.ts'
import type { RunTable } from './run-table.ts'
import { STEP_COLUMNS, type StepTable } from './step-table.ts'

interface OperationTables {
  runs: RunTable
  steps: StepTable
  annotations: AnnotationTable
  withdrawals: WithdrawalTable
  closings: ClosingTable
}

/** Operations of a person on runs: start, retry, resume and fork. */
export class RunOperations extends JoinedTable<OperationTables> {
  readonly #continue = prepareContinue(this.db)
  /** Statements that make a run from the journal of another. Index: primary keys. */
  readonly #forks = {
    // A fork has a journal before its first claim, so its fence and start are set.
    // The source is locked, so that no prune takes it between two of these statements.
    insert: this.db.prepare(
      `INSERT INTO run (id, workflow, event_seq, tick_at, schedule, input, account, depth, since_seq, created_at,
         origin, origin_run, handler, failure, events_of)
       SELECT @id, run.workflow, event_seq, tick_at, schedule, input, run.account, depth,
         ${this.db.sql.newestEvent('coalesce(event.account, run.account)')}, CAST(@now AS bigint), 'fork', run.id,
         handler, failure, ${EVENTS_OF}
       FROM run LEFT JOIN event ON ${this.db.sql.isEvent('run.event_seq')} WHERE run.id = @source
       ${this.db.sql.forUpdate('run')}`,
    ),
    queue: this.db.prepare(
      `INSERT INTO work (run_id, workflow, status, rank, fence, started_at, folded, tick_at, tick_schedule,
         tick_account)
       SELECT @id, workflow, 'pending', rank, 1, CAST(@now AS bigint), folded,
         CASE WHEN handler = 'run' THEN tick_at END, schedule, account
       FROM full_run WHERE id = @source`,
    ),
    copyStep: this.db.prepare(
      `INSERT INTO step (run_id, ${STEP_COLUMNS}) SELECT @id, ${STEP_COLUMNS} FROM step
       WHERE run_id = @source AND key = @key AND status <> 'waiting'`,
    ),
    copyOutput: this.db.prepare(
      `INSERT INTO large_output (run_id, key, packed)
       SELECT @id, key, packed FROM large_output WHERE run_id = @source AND key = @key`,
    ),
    editStep: this.db.prepare(
      `INSERT INTO step (run_id, key, position, kind, effect, status, attempt, output, target, started_at, finished_at,
         settled)
       SELECT @id, key, position, kind, effect, 'completed', 1, @output, target, CAST(@now AS bigint),
         CAST(@now AS bigint), CASE WHEN status IN ('completed', 'failed') THEN settled ELSE 0 END
       FROM step WHERE run_id = @source AND key = @key`,
    ),
  }
  /** Statements that end a sleep, or a pause before an attempt, early. Index: primary keys. */
  readonly #sleeps = {
    next: this.db.pluck<
      [string, number],
      string
    >(`SELECT key FROM step WHERE run_id = ? AND status = 'waiting' AND due_at > ?
         AND (kind = 'sleep' OR error IS NOT NULL) ORDER BY due_at, position LIMIT 1`),
    // The fence rises, as for a retry.
    dueNow: this.db.prepare(
      `UPDATE work SET due_at = @now, fence = fence + 1
       WHERE run_id = @runId AND status = 'waiting' AND due_at IS NOT NULL`,
    ),
    end: this.db.prepare('UPDATE step SET due_at = @now WHERE run_id = @runId AND key = @key'),
  }
  // Index: primary key.
  readonly #start = this.db.prepare<[Invocation]>(
    `INSERT INTO run (id, workflow, input, account, since_seq, created_at)
     VALUES (@run, @workflow, @input, @account, ${this.db.sql.newestEvent('@account')}, @createdAt)
     ON CONFLICT (id) DO NOTHING`,
  )
  readonly #queue = this.db.prepare<[string]>(QUEUE_RUN)

  /** Starts a run of a callable workflow, as `step.invoke` does. False when the id is taken. */
  async startRun(start: Invocation): Promise<boolean> {
    const isNew = (await this.#start.run(start)).changes === 1
    if (isNew) await this.#queue.run(start.run)
    return isNew
  }

  /**
   * Continues a failed or canceled run from its failed step, under the same id. False in any other
   * state, or where it would end again at once.
   */
  async retryRun(runId: string, now: number): Promise<boolean> {
    const run = await this.parts.runs.findRun(runId)
    if (!run || findObstacle('retry', run, now) !== null) return false
    if ((await this.#continue.queueAgain.run(runId)).changes === 0) return false
    await this.#continue.dropOutcome.run(runId)
    await this.#continue.liftEnd.run(runId)
    await this.parts.runs.markHour(runId, null)
    const steps = await this.parts.steps.listSteps(runId)
    const keys = new Set(planReset(steps, run.error))
    const repeated = steps.filter(({ key }) => keys.has(key))
    // Outcomes after a repeated one may not come again: the code gets those that it asks for.
    if (repeated.length > 0) await this.#continue.forgetOrder.run(runId, Math.min(...repeated.map(numberOf)))
    for (const key of keys) await this.#continue.resetStep.run(runId, key)
    // The retried step may ask again for an effect that was denied.
    await this.parts.withdrawals.begin(runId, now)
    // The waits of a run end with it, so its open steps begin again.
    await this.#continue.dropWaitingSteps.run(runId)
    return true
  }

  /**
   * Notes that the failure of a run needs nobody any more, until it is retried. False where it has
   * not failed, or is resolved already.
   */
  async resolveRun(runId: string, resolution: Resolution): Promise<boolean> {
    // SQL reads it, and PostgreSQL reads no JSON with the character 0.
    const reason = resolution.reason.replaceAll('\0', '\u{fffd}')
    return (await this.#continue.resolve.run(JSON.stringify({ ...resolution, reason }), runId)).changes === 1
  }

  /** Takes that back. False where the run is not resolved. */
  async unresolveRun(runId: string): Promise<boolean> {
    return (await this.#continue.unresolve.run(runId)).changes === 1
  }

  /**
   * Continues a run that waits for a person; `fromScratch` first deletes its journal, and
   * `carryOutDecision` cancels what it has invoked. False when it does not wait for a person.
   */
  async resumeRun(runId: string, { fromScratch }: { fromScratch: boolean }): Promise<boolean> {
    const hasDiverged = (await this.parts.runs.findRun(runId))?.reason?.startsWith(DIVERGED) ?? false
    if (!fromScratch) {
      if ((await this.#continue.resume.run(runId)).changes === 0) return false
      // A person accepts the present code, so what is recorded is delivered by name.
      if (hasDiverged) await this.#continue.forgetOrder.run(runId, 0)
      return true
    }
    if ((await this.#continue.restart.run(runId)).changes === 0) return false
    await this.parts.withdrawals.begin(runId, null)
    await this.parts.closings.restart(runId)
    await this.#continue.dropSteps.run(runId)
    await this.#continue.dropOutputs.run(runId)
    await this.parts.annotations.drop(runId)
    return true
  }

  /**
   * Makes a run due that sleeps, or pauses before an attempt of a step: the earliest wait ends now.
   * Returns the step's key, or null where the run has neither.
   */
  async skipSleep(runId: string, now: number): Promise<string | null> {
    const key = await this.#sleeps.next.get(runId, now)
    if (key === undefined || (await this.#sleeps.dueNow.run({ runId, now })).changes === 0) return null
    await this.#sleeps.end.run({ runId, key, now })
    return key
  }

  /**
   * Creates a run with the same cause, copies of these steps, and perhaps one edited result.
   * Returns its id.
   */
  async forkRun(source: string, { keys, edited }: Fork, now: number): Promise<string> {
    const id = newId('run', now)
    if ((await this.#forks.insert.run({ id, source, now })).changes === 0) throw describeMissing(`run ${source}`)
    await this.#forks.queue.run({ id, source, now })
    await this.parts.annotations.copyTags(source, id)
    for (const key of keys) {
      if ((await this.#forks.copyStep.run({ id, source, key })).changes === 0)
        throw describeMissing(`finished step "${key}" in run ${source}`)
      await this.#forks.copyOutput.run({ id, source, key })
    }
    if (edited && (await this.#forks.editStep.run({ id, source, now, ...edited })).changes === 0) {
      throw describeMissing(`step "${edited.key}" in run ${source}`)
    }
    return id
  }
}

/**
 * Statements that continue an existing run. Index: primary keys. Each raises the fence: no worker
 * goes on with a pass that it has kept of the run.
 */
function prepareContinue(db: Connection) {
  const resume = (changes: string) =>
    db.prepare(
      `UPDATE work SET status = 'pending', fence = fence + 1, reason = NULL, crashes = 0, suspicion = 0${changes}
       WHERE run_id = ? AND status = 'waiting' AND due_at IS NULL AND awaits = 0
         AND gate_state IS DISTINCT FROM 'in_line'`,
    )
  return {
    // The end goes, and the run has its row in the queue again. Another retry, or a prune, may want
    // the same end, so it is locked.
    queueAgain: db.prepare(
      `INSERT INTO work (run_id, workflow, status, rank, fence, started_at, code_hash, error, gates, gate_state, folded,
         tick_at, tick_schedule, tick_account)
       SELECT outcome.run_id, outcome.workflow, 'pending', outcome.rank, outcome.fence + 1, outcome.started_at,
         outcome.code_hash, outcome.error, gates, gate_state, folded,
         CASE WHEN run.handler = 'run' THEN run.tick_at END, run.schedule, run.account
       FROM outcome JOIN run ON run.id = outcome.run_id
       WHERE outcome.run_id = ? AND outcome.status IN ('failed', 'canceled') ${db.sql.forUpdate('outcome')}`,
    ),
    dropOutcome: db.prepare('DELETE FROM outcome WHERE run_id = ?'),
    liftEnd: db.prepare('UPDATE run SET ends_by = NULL WHERE id = ? AND ends_by IS NOT NULL'),
    resolve: db.prepare<[string, string]>(
      `UPDATE outcome SET resolution = ? WHERE run_id = ? AND status = 'failed' AND resolution IS NULL`,
    ),
    unresolve: db.prepare<[string]>('UPDATE outcome SET resolution = NULL WHERE run_id = ? AND resolution IS NOT NULL'),
    // A resumed run accepts the present code: without a hash it is not compared with older code.
    resume: resume(', code_hash = NULL'),
    restart: resume(', code_hash = NULL, attempt = 0, started_at = NULL, error = NULL'),
    resetStep: db.prepare(
      `UPDATE step SET status = 'waiting', attempt = 0, finished_at = NULL, due_at = NULL, settled = NULL
       WHERE run_id = ? AND key = ?`,
    ),
    // Index: primary key. Without `settled`, a finished step has the number of its position.
    forgetOrder: db.prepare(
      `UPDATE step SET settled = 0 WHERE run_id = ?
         AND coalesce(settled, CASE WHEN status IN ('completed', 'failed') THEN position + 1 ELSE 0 END) > ?`,
    ),
    dropWaitingSteps: db.prepare(
      `DELETE FROM step WHERE run_id = ? AND kind IN ('wait', 'receive', 'invoke', 'approve') AND status = 'waiting'`,
    ),
    dropSteps: db.prepare('DELETE FROM step WHERE run_id = ?'),
    dropOutputs: db.prepare('DELETE FROM large_output WHERE run_id = ?'),
  }
}

export function describeMissing(what: string): UpshotError {
  return new UpshotError('not_found', `There is no ${what} any more.`)
}
