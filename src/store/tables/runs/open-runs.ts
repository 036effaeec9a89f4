import { PAUSED_REASON, QUEUED_TICK_REASON } from '../../../core/runs/run.ts'
import { MAX_COUNTED } from '../../../core/store/runs.ts'

/** A row of `work` that waits for a person. */
export const FOR_PERSON = `work.status = 'waiting' AND work.due_at IS NULL AND work.awaits = 0
  AND work.gate_state IS DISTINCT FROM 'in_line' AND work.reason NOT IN ('${PAUSED_REASON}', '${QUEUED_TICK_REASON}')`

const either = (where: string, one: string, other: string) =>
  `(SELECT run_id AS id FROM work WHERE ${where} AND ${one}
    UNION ALL SELECT run_id AS id FROM work WHERE ${where} AND ${other})`

/** The ids of unfinished runs by status, each in the words of its indexes. */
export const UNFINISHED = {
  pending: either(`status = 'pending'`, 'suspicion < 2', 'suspicion >= 2'),
  running: `(SELECT run_id AS id FROM work WHERE status = 'running' AND worker IS NOT NULL)`,
  waiting: either(`status = 'waiting'`, 'due_at IS NOT NULL', 'due_at IS NULL'),
} as const

/** The moment at which the oldest pending run was made. Reads the ids of all that are pending. */
const OLDEST_PENDING = `SELECT created_at FROM run WHERE id = (SELECT min(id) FROM (
  SELECT id FROM ${UNFINISHED.pending} AS pending LIMIT ${MAX_COUNTED}) AS bounded)`

/**
 * Unresolved failures of each kind, newer than its own resolution; none of a snoozed kind. Walks
 * the kinds along the index.
 */
const OPEN_FAILURES = `(WITH RECURSIVE kind (id) AS (
    SELECT min(failure_group) FROM outcome WHERE status = 'failed' AND resolution IS NULL
    UNION SELECT (SELECT min(failure_group) FROM outcome
        WHERE status = 'failed' AND resolution IS NULL AND failure_group > kind.id)
      FROM kind WHERE kind.id IS NOT NULL)
  SELECT kind.id, CASE WHEN state.kind = 'resolved' THEN state.set_at ELSE 0 END AS resolved_at
  FROM kind LEFT JOIN failure_state AS state ON state.failure_group = kind.id
  WHERE kind.id IS NOT NULL
    AND NOT (state.kind IS NOT DISTINCT FROM 'snoozed' AND CAST(? AS bigint) < state.until)) AS kind
  JOIN outcome ON outcome.status = 'failed' AND outcome.resolution IS NULL AND outcome.failure_group = kind.id
    AND outcome.finished_at > kind.resolved_at`

const count = (from: string) => `(SELECT count(*) FROM (SELECT 1 FROM ${from} LIMIT ${MAX_COUNTED}) AS bounded)`

/** Runs that need work or a person. Index: those of `work`. */
const COUNTED = `${count(`${UNFINISHED.pending} AS pending`)} AS pending,
  ${count(`${UNFINISHED.running} AS running`)} AS running, ${count(`work WHERE ${FOR_PERSON}`)} AS for_person,
  (${OLDEST_PENDING}) AS oldest_pending_at`

/** Selects `OpenRuns`; `?` is the present. Index: outcome_failure_kind. */
export const SELECT_OPEN = `SELECT ${COUNTED}, ${count(`${UNFINISHED.waiting} AS waiting`)} AS waiting,
  ${count(OPEN_FAILURES)} AS open_failures`

/** In the words of outcome_ended_badly: SQLite does not see that one status implies it. */
const FAILED = `outcome WHERE status IN ('failed', 'canceled') AND status = 'failed' AND run_id >= ?
  AND resolution IS NULL`

/** Selects `RunCounts`; `?` is the least id of a failed run. Index: outcome_ended_badly. */
export const SELECT_COUNTS = `SELECT ${COUNTED}, ${count(FAILED)} AS failed`
