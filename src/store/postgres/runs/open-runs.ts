import { PAUSED_REASON, QUEUED_TICK_REASON } from '../../../core/runs/run.ts'
import { MAX_COUNTED, type OpenRuns } from '../../../core/store/runs.ts'
import type { Connection } from '../database/connection.ts'

/** A row of `work` that waits for a person. */
export const FOR_PERSON = `work.status = 'waiting' AND work.due_at IS NULL AND work.awaits = 0
  AND work.gate_state IS DISTINCT FROM 'in_line' AND work.reason NOT IN ('${PAUSED_REASON}', '${QUEUED_TICK_REASON}')`

/** The moment at which the oldest pending run was made. Reads the ids of all that are pending. */
export const OLDEST_PENDING = `SELECT created_at FROM run WHERE id = (SELECT min(run_id) FROM (
  SELECT run_id FROM work WHERE status = 'pending' LIMIT ${MAX_COUNTED}) AS pending)`

/** Counts runs that are not finished or failed. Index: those of `work`, and outcome_failed. */
export function prepareOpenRuns(db: Connection): () => Promise<OpenRuns> {
  const count = (from: string) => `(SELECT count(*) FROM (SELECT 1 FROM ${from} LIMIT ${MAX_COUNTED}) AS bounded)`
  const counts = db.prepare<[], OpenRuns>(
    `SELECT ${count(`work WHERE status = 'pending'`)} AS pending, ${count(`work WHERE status = 'running'`)} AS running,
       ${count(`work WHERE status = 'waiting'`)} AS waiting, ${count(`work WHERE ${FOR_PERSON}`)} AS forPerson,
       ${count(`outcome WHERE status = 'failed'`)} AS failed, (${OLDEST_PENDING}) AS oldestPendingAt`,
  )
  return async () => {
    const found = await counts.get()
    return found ?? { pending: 0, running: 0, waiting: 0, forPerson: 0, failed: 0, oldestPendingAt: null }
  }
}
