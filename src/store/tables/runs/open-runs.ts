import { PAUSED_REASON, QUEUED_TICK_REASON } from '../../../core/runs/run.ts'
import { MAX_COUNTED, type OpenRuns } from '../../../core/store/runs.ts'
import type { Connection } from '../../connection.ts'

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
export const OLDEST_PENDING = `SELECT created_at FROM run WHERE id = (SELECT min(id) FROM (
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

/** Counts runs that need work or a person. Index: those of `work`, and outcome_failure_kind. */
export function prepareOpenRuns(db: Connection): (now: number) => Promise<OpenRuns> {
  const count = (from: string) => `(SELECT count(*) FROM (SELECT 1 FROM ${from} LIMIT ${MAX_COUNTED}) AS bounded)`
  const counts = db.prepare<[number], OpenRuns>(
    `SELECT ${count(`${UNFINISHED.pending} AS pending`)} AS pending,
       ${count(`${UNFINISHED.running} AS running`)} AS running, ${count(`${UNFINISHED.waiting} AS waiting`)} AS waiting,
       ${count(`work WHERE ${FOR_PERSON}`)} AS for_person,
       ${count(OPEN_FAILURES)} AS open_failures, (${OLDEST_PENDING}) AS oldest_pending_at`,
  )
  return async (now) => {
    const found = await counts.get(now)
    return found ?? { pending: 0, running: 0, waiting: 0, forPerson: 0, openFailures: 0, oldestPendingAt: null }
  }
}
