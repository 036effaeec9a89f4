import { TRIED_ALONE } from '../../../core/runs/blame.ts'
import type { Connection } from '../../connection.ts'

/** Condition of a run that any worker may claim. Index: work_ready, which skips suspects. */
export const IS_READY = `status = 'pending' AND suspicion < ${TRIED_ALONE}`

/** Of no paused workflow, and of none that only other workers at work have. */
const IS_OURS = `workflow NOT IN (SELECT paused.workflow FROM workflow_pause AS paused)
  AND workflow NOT IN (SELECT theirs.workflow FROM worker_workflow AS theirs WHERE theirs.worker <> @worker
    AND NOT EXISTS (SELECT 1 FROM worker_workflow AS own
      WHERE own.worker = @worker AND own.workflow = theirs.workflow))`

/** Finds the first run that a claim would give a worker, were it free; null: none. */
export function prepareFirstClaimable(db: Connection): (worker: string, now: number) => Promise<string | null> {
  // Index: work_waiting, and work_ready in its order.
  const firstDue = db.pluck<{ worker: string; now: number }, string>(
    `SELECT run_id FROM work WHERE status = 'waiting' AND due_at IS NOT NULL AND due_at <= @now AND ${IS_OURS}
     ORDER BY due_at LIMIT 1`,
  )
  const firstReady = db.pluck<{ worker: string }, string>(
    `SELECT run_id FROM work WHERE ${IS_READY} AND ${IS_OURS} ORDER BY turn, run_id LIMIT 1`,
  )
  return async (worker, now) => (await firstDue.get({ worker, now })) ?? (await firstReady.get({ worker })) ?? null
}
