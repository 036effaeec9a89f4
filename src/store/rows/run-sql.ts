/**
 * SQL for the run that finally absorbed the run `from`; no row once that is pruned. Subqueries have
 * one row: PostgreSQL expects many rows of a recursion, and would read all runs instead.
 */
export function selectAbsorber(from: string): string {
  const next = (id: string) => `(SELECT folded_into FROM outcome WHERE outcome.run_id = ${id})`
  return `WITH RECURSIVE up (id, next) AS (
      SELECT one.id, ${next('one.id')} FROM run AS one WHERE one.id = ${from}
      UNION SELECT up.next, ${next('up.next')} FROM up WHERE up.next IS NOT NULL)
    SELECT run.id FROM full_run AS run WHERE run.id = (SELECT up.id FROM up WHERE up.next IS NULL)`
}

/** An event that is old enough for its body to go. */
export interface OldEvent {
  seq: number
  receivedAt: number
  /** Size of the body, 0 once pruned. */
  bytes: number
  isNeeded: number
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

/** SQL for a column of a run, given as SQL: that of its work, and then that of its outcome. */
export function ofRun(column: 'fence' | 'code_hash', run: string): string {
  return `coalesce(
    (SELECT ${column} FROM work WHERE run_id = ${run}), (SELECT ${column} FROM outcome WHERE run_id = ${run}))`
}

/** Puts a new run into the queue, with the priority of its workflow. Index: primary keys. */
export const QUEUE_RUN = `INSERT INTO work (run_id, workflow, status, rank)
  SELECT id, workflow, 'pending', -coalesce((SELECT priority FROM workflow WHERE workflow.id = run.workflow), 0)
  FROM run WHERE id = ?`
