import type { FailureState } from '../../../core/runs/failures/failure-state.ts'
import type { FailureKindSince } from '../../../core/store/runs.ts'
import type { Connection } from '../../connection.ts'

/** The verdicts of persons on kinds of failures, one row per kind. Index: primary key. */
export class FailureStateTable {
  readonly #save
  readonly #list
  readonly #isSettled

  constructor(db: Connection) {
    this.#save = db.prepare(
      `INSERT INTO failure_state (failure_group, kind, note, set_by, set_at, until)
       VALUES (@group, @kind, @note, @by, @at, @until)
       ON CONFLICT (failure_group) DO UPDATE SET kind = excluded.kind, note = excluded.note, set_by = excluded.set_by,
         set_at = excluded.set_at, until = excluded.until`,
    )
    this.#list = db.prepare<[string[]], FailureState>(
      `SELECT failure_group AS "group", kind, note, set_by AS "by", set_at AS at, until FROM failure_state
       WHERE ${db.sql.isOneOf('failure_group', 'text')}`,
    )
    // Index: outcome_failure_kind, and outcome_resolved, of which all is read where none is open.
    this.#isSettled = db.prepare<[{ id: string; since: number }], number>(
      `SELECT 1 FROM (SELECT (
           SELECT set_at FROM failure_state WHERE failure_group = @id AND kind = 'resolved') AS set_at) AS state
       WHERE NOT EXISTS (SELECT 1 FROM outcome WHERE outcome.status = 'failed' AND outcome.resolution IS NULL
           AND outcome.failure_group = @id AND outcome.finished_at > coalesce(state.set_at, 0))
         AND (state.set_at >= @since OR EXISTS (SELECT 1 FROM outcome WHERE outcome.resolution IS NOT NULL
           AND outcome.failure_group = @id AND ${db.sql.jsonNumber('outcome.resolution', 'at')} >= @since))`,
    )
  }

  async save(state: FailureState): Promise<void> {
    await this.#save.run(state)
  }

  async list(groups: readonly string[]): Promise<FailureState[]> {
    return await this.#list.all([...groups])
  }

  async settled(kinds: readonly FailureKindSince[]): Promise<string[]> {
    const settled: string[] = []
    for (const { id, since } of kinds) if ((await this.#isSettled.get({ id, since })) !== undefined) settled.push(id)
    return settled
  }
}
