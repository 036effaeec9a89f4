import { type Checkpoint, ROW_OUTPUT_BYTES, type StepFailure } from '../../../core/runs/step.ts'
import { Table } from '../../connection.ts'
import { isLongTextOf } from '../../dialect.ts'

/** All columns but the run. */
export const STEP_COLUMNS = `key, position, kind, effect, status, attempt, output, apart_bytes, error, target,
  started_at, finished_at, due_at, settled`

const OR_CHANGE = `ON CONFLICT (run_id, key) DO UPDATE SET status = excluded.status, attempt = excluded.attempt,
  output = excluded.output, apart_bytes = excluded.apart_bytes, error = excluded.error, target = excluded.target,
  finished_at = excluded.finished_at, due_at = excluded.due_at, settled = excluded.settled`

/** The journal: one row per step with its last attempt, and one per failed attempt. */
export class StepTable extends Table {
  // Index: primary key.
  readonly #save = this.db.prepare(
    `INSERT INTO step (run_id, ${STEP_COLUMNS})
     VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?) ${OR_CHANGE}`,
  )
  readonly #saveOpen = this.db.prepare<[string, string]>(
    `INSERT INTO step (run_id, key, position, kind, effect, status, attempt, error, target, started_at, due_at, settled)
     SELECT ?, value ->> 0, CAST(value ->> 1 AS bigint), value ->> 2, value ->> 3, value ->> 4,
       CAST(value ->> 5 AS bigint), value ->> 6, value ->> 7, CAST(value ->> 8 AS bigint),
       CAST(value ->> 9 AS bigint), CAST(value ->> 10 AS bigint)
     FROM ${this.db.sql.rows} WHERE true ${OR_CHANGE}`,
  )
  readonly #appendFailure = this.db.prepare(
    'INSERT INTO step_failure (run_id, key, attempt, failed_at, error) VALUES (?, ?, ?, ?, ?)',
  )

  /**
   * The journal of a run, in the order in which its steps began. Results above `inlineBytes`, and
   * those stored apart, are replaced by their size. Index: primary key; sorted in memory.
   */
  readonly listSteps = this.readRows<[runId: string, inlineBytes?: number], StepRow, Checkpoint>(
    `SELECT key, position, kind, effect, status, attempt,
       CASE WHEN octet_length(output) <= CAST(? AS bigint) THEN output END AS output,
       CASE WHEN octet_length(output) > CAST(? AS bigint) THEN octet_length(output) ELSE apart_bytes END
         AS apart_bytes,
       error, target, started_at, finished_at, due_at, settled
     FROM step WHERE run_id = ? ORDER BY position`,
    readStep,
    (runId, inlineBytes = ROW_OUTPUT_BYTES) => [inlineBytes, inlineBytes, runId],
  )

  /** Steps of a run that sent events, in their order. Index: primary key. */
  readonly listSends = this.readRows<[runId: string, limit: number], StepRow, Checkpoint>(
    `SELECT ${STEP_COLUMNS} FROM step WHERE run_id = ? AND kind = 'send' ORDER BY position LIMIT ?`,
    readStep,
  )

  /** Index: step_delete, then the primary keys of run and event. */
  readonly listDeletes = this.readRows<[account: string, targets: readonly string[]], StepRow, Checkpoint>(
    `SELECT ${STEP_COLUMNS} FROM step
       JOIN run ON run.id = step.run_id LEFT JOIN event ON ${this.db.sql.isEvent('run.event_seq')}
     WHERE step.effect = 'delete' AND ${isLongTextOf('step.target', this.db.sql)} AND step.effect_seq IS NOT NULL
       AND coalesce(event.account, run.account, 'default') = ?`,
    readStep,
    (account, targets) => [[...targets], [...targets], account],
  )

  /** Adds or changes a step of a run that the caller has locked. */
  async save(runId: string, step: Checkpoint, failure?: StepFailure): Promise<void> {
    const { key, position, kind, effect, status, attempt, output, apartBytes = null, target } = step
    const error = step.error && JSON.stringify(step.error)
    const moments = [step.startedAt, step.finishedAt, step.dueAt, step.settled ?? null]
    const result = [output, apartBytes, error, target]
    await this.#save.run(runId, key, position, kind, effect, status, attempt, ...result, ...moments)
    if (!failure) return
    await this.#appendFailure.run(runId, failure.key, failure.attempt, failure.at, JSON.stringify(failure.error))
  }

  /** The same for many steps without an outcome, each once, in one message. */
  async saveOpen(runId: string, steps: readonly Checkpoint[]): Promise<void> {
    const rows = steps.map(({ key, position, kind, effect, status, attempt, target, startedAt, dueAt, ...step }) => {
      const error = step.error && JSON.stringify(step.error)
      return [key, position, kind, effect, status, attempt, error, target, startedAt, dueAt, step.settled ?? null]
    })
    await this.#saveOpen.run(runId, JSON.stringify(rows))
  }

  readonly noteSeen = this.write<[seen: string, runId: string, key: string]>(
    'UPDATE step SET seen = ? WHERE run_id = ? AND key = ?',
  )

  /** Failed attempts of a run's steps, oldest first. Index: step_failure_run. */
  readonly listStepFailures = this.readRows<[runId: string], FailureRow, StepFailure>(
    'SELECT key, attempt, failed_at AS at, error FROM step_failure WHERE run_id = ? ORDER BY number',
    (row) => ({ ...row, error: JSON.parse(row.error) }),
  )
}

type FailureRow = Omit<StepFailure, 'error'> & { error: string }

type StepRow = Omit<Checkpoint, 'apartBytes' | 'error' | 'settled'> &
  Record<'apartBytes' | 'settled', number | null> & { error: string | null }

/** Changes the row, which nobody else has: a replay reads thousands of them. */
export function readStep(row: StepRow): Checkpoint {
  const step = row as { [Key in keyof Checkpoint]: Checkpoint[Key] | undefined }
  if (row.error !== null) step.error = JSON.parse(row.error)
  step.apartBytes = row.apartBytes ?? undefined
  step.settled = row.settled ?? undefined
  return step as Checkpoint
}
