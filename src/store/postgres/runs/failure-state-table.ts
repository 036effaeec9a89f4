import type { FailureState } from '../../../core/runs/failures/failure-state.ts'
import type { FailureKindSince } from '../../../core/store/runs.ts'
import type { Connection } from '../database/connection.ts'

/** The verdicts of persons on kinds of failures, one row per kind. Index: primary key. */
export class FailureStateTable {
  readonly #save
  readonly #list
  readonly #settled

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
    // Index: outcome_failure_kind, and outcome_resolved, of which all is read where none is open.
    this.#settled = db
      .prepare<[string[], number[]], string>(
        `SELECT kind.id FROM unnest(?::text[], ?::bigint[]) AS kind (id, since)
         LEFT JOIN failure_state AS state ON state.failure_group = kind.id AND state.kind = 'resolved'
         WHERE NOT EXISTS (SELECT 1 FROM outcome WHERE outcome.status = 'failed' AND outcome.resolution IS NULL
             AND outcome.failure_group = kind.id AND outcome.finished_at > coalesce(state.set_at, 0))
           AND (state.set_at >= kind.since OR EXISTS (SELECT 1 FROM outcome WHERE outcome.resolution IS NOT NULL
             AND outcome.failure_group = kind.id AND (outcome.resolution::json ->> 'at')::bigint >= kind.since))`,
      )
      .pluck()
  }

  async save(state: FailureState): Promise<void> {
    await this.#save.run(state)
  }

  async list(groups: readonly string[]): Promise<FailureState[]> {
    return await this.#list.all([...groups])
  }

  async settled(kinds: readonly FailureKindSince[]): Promise<string[]> {
    return await this.#settled.all(
      kinds.map(({ id }) => id),
      kinds.map(({ since }) => since),
    )
  }
}
