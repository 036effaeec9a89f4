import type { FailureState } from '../../../core/runs/failures/failure-state.ts'
import type { Connection } from '../database/connection.ts'

/** The verdicts of persons on kinds of failures, one row per kind. Index: primary key. */
export class FailureStateTable {
  readonly #save
  readonly #list

  constructor(db: Connection) {
    this.#save = db.prepare(
      `INSERT INTO failure_state (failure_group, kind, note, set_by, set_at, until)
       VALUES (@group, @kind, @note, @by, @at, @until)
       ON CONFLICT (failure_group) DO UPDATE SET kind = excluded.kind, note = excluded.note, set_by = excluded.set_by,
         set_at = excluded.set_at, until = excluded.until`,
    )
    this.#list = db.prepare<[string[]], FailureState>(
      `SELECT failure_group AS "group", kind, note, set_by AS "by", set_at AS at, until FROM failure_state
       WHERE failure_group = ANY (?::text[])`,
    )
  }

  async save(state: FailureState): Promise<void> {
    await this.#save.run(state)
  }

  async list(groups: readonly string[]): Promise<FailureState[]> {
    return await this.#list.all([...groups])
  }
}
