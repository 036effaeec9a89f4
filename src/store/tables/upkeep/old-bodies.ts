import { selectAbsorber } from '../../rows/runs/select-absorber.ts'

/** An event that is old enough for its body to go. */
export interface OldEvent {
  seq: number
  received_at: number
  /** Size of the body, 0 once pruned. */
  bytes: number
  is_needed: number
}

/**
 * SQL: 1 where an unfinished run may still need the body of an event, whose number is given as SQL.
 * Index: run_caused, and primary keys. Subqueries have one row: the planner of PostgreSQL may read
 * all runs of the history for any other.
 */
export const isNeeded = (event: string) => `CASE WHEN (
    SELECT 1 FROM run WHERE run.event_seq = ${event} AND coalesce((
      SELECT CASE WHEN folded_into IS NOT NULL AND EXISTS (
        ${selectAbsorber('outcome.folded_into')} AND run.work_status IS NOT NULL) THEN 1 ELSE 0 END
      FROM outcome WHERE outcome.run_id = run.id), 1) = 1
    LIMIT 1) IS NOT NULL THEN 1 ELSE 0 END`
