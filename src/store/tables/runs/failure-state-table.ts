import type { FailureState } from '../../../core/runs/failure-group.ts'
import { Table } from '../../connection.ts'

/** A kind of failure, and a moment in epoch milliseconds. */
interface FailureKindSince {
  id: string
  since: number
}

/** The verdicts of persons on kinds of failures, one row per kind. Index: primary key. */
export class FailureStateTable extends Table {
  readonly listFailureStates = this.readRows<[groups: readonly string[]], FailureState>(
    `SELECT failure_group AS "group", kind, note, set_by AS "by", set_at AS at, until FROM failure_state
     WHERE ${this.db.sql.isOneOf('failure_group', 'text')}`,
  )

  /**
   * The kinds of which no failure is open, and persons have resolved one or all since then. Index:
   * primary key, then outcome_failure_kind, and outcome_resolved, of which all is read where none
   * is open. Subqueries of one row, so that the planner of PostgreSQL joins no tables.
   */
  readonly listSettledFailures = this.readValues<[kinds: readonly FailureKindSince[]], string>(
    `SELECT id FROM (SELECT given.id, given.since, (
           SELECT set_at FROM failure_state WHERE failure_group = given.id AND kind = 'resolved') AS set_at
         FROM (
           SELECT value ->> 0 AS id, CAST(value ->> 1 AS bigint) AS since FROM ${this.db.sql.rows}
         ) AS given) AS kind
       WHERE (SELECT 1 FROM outcome WHERE outcome.status = 'failed' AND outcome.resolution IS NULL
           AND outcome.failure_group = kind.id AND outcome.finished_at > coalesce(kind.set_at, 0) LIMIT 1) IS NULL
         AND (kind.set_at >= kind.since OR (SELECT 1 FROM outcome WHERE outcome.resolution IS NOT NULL
           AND outcome.failure_group = kind.id AND ${this.db.sql.jsonNumber('outcome.resolution', 'at')} >= kind.since
           LIMIT 1) IS NOT NULL)`,
    (kinds) => [JSON.stringify(kinds.map(({ id, since }) => [id, since]))],
  )

  /** Resolves or snoozes a kind of failure, in place of what was said before. */
  readonly saveFailureState = this.write<[FailureState]>(
    `INSERT INTO failure_state (failure_group, kind, note, set_by, set_at, until)
     VALUES (@group, @kind, @note, @by, @at, @until)
     ON CONFLICT (failure_group) DO UPDATE SET kind = excluded.kind, note = excluded.note, set_by = excluded.set_by,
       set_at = excluded.set_at, until = excluded.until`,
  )
}
