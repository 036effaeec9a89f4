import type { Database } from 'better-sqlite3'
import type { FailureState } from '../../../core/runs/failures/failure-state.ts'

/** The verdicts of persons on kinds of failures, one row per kind. Index: primary key. */
export class FailureStateTable {
  readonly #save
  readonly #list

  constructor(db: Database) {
    this.#save = db.prepare(
      `INSERT OR REPLACE INTO failure_state (failure_group, kind, note, set_by, set_at, until)
       VALUES (@group, @kind, @note, @by, @at, @until)`,
    )
    this.#list = db.prepare<[string], FailureState>(
      `SELECT failure_group AS "group", kind, note, set_by AS "by", set_at AS at, until FROM failure_state
       WHERE failure_group IN (SELECT value FROM json_each(?))`,
    )
  }

  save(state: FailureState): void {
    this.#save.run(state)
  }

  list(groups: readonly string[]): FailureState[] {
    return this.#list.all(JSON.stringify(groups))
  }
}
