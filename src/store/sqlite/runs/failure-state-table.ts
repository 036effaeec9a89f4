import type { FailureState } from '../../../core/runs/failures/failure-state.ts'
import type { FailureKindSince } from '../../../core/store/runs.ts'
import type { Connection } from '../../connection.ts'

/** The verdicts of persons on kinds of failures, one row per kind. Index: primary key. */
export class FailureStateTable {
  readonly #save
  readonly #list
  readonly #settled

  constructor(db: Connection) {
    this.#save = db.prepare(
      `INSERT OR REPLACE INTO failure_state (failure_group, kind, note, set_by, set_at, until)
       VALUES (@group, @kind, @note, @by, @at, @until)`,
    )
    this.#list = db.prepare<[string], FailureState>(
      `SELECT failure_group AS "group", kind, note, set_by AS "by", set_at AS at, until FROM failure_state
       WHERE failure_group IN (SELECT value FROM json_each(?))`,
    )
    // Index: run_failure_kind, and run_resolved, of which all is read where no failure is open.
    this.#settled = db
      .prepare<[string], string>(
        `SELECT kind.value ->> 'id' FROM json_each(?) AS kind
         LEFT JOIN failure_state AS state ON state.failure_group = kind.value ->> 'id' AND state.kind = 'resolved'
         WHERE NOT EXISTS (SELECT 1 FROM run INDEXED BY run_failure_kind WHERE run.status = 'failed'
             AND run.resolution IS NULL AND run.failure_group = kind.value ->> 'id'
             AND run.finished_at > ifnull(state.set_at, 0))
           AND (state.set_at >= kind.value ->> 'since' OR EXISTS (SELECT 1 FROM run INDEXED BY run_resolved
             WHERE run.resolution IS NOT NULL AND run.failure_group = kind.value ->> 'id'
               AND run.resolution ->> 'at' >= kind.value ->> 'since'))`,
      )
      .pluck()
  }

  async save(state: FailureState): Promise<void> {
    await this.#save.run(state)
  }

  async list(groups: readonly string[]): Promise<FailureState[]> {
    return this.#list.all(JSON.stringify(groups))
  }

  async settled(kinds: readonly FailureKindSince[]): Promise<string[]> {
    return this.#settled.all(JSON.stringify(kinds))
  }
}
