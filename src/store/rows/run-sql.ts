/**
 * SQL for a run that has the events of what was folded into `from`, and fits a condition on `run`.
 * It is the run that finally absorbed that, or a fork or failure run of one on the way.
 *
 * Index: primary keys, run_events_of. Subqueries have one row: PostgreSQL expects many rows of a
 * recursion, and would read all runs instead.
 */
export function findHolder(from: string, condition: string): string {
  const next = (id: string) => `(SELECT above.folded_into FROM outcome AS above WHERE above.run_id = ${id})`
  const one = (key: string, id: string) =>
    `(SELECT run.id FROM full_run AS run WHERE run.${key} = ${id} AND (${condition}) LIMIT 1)`
  return `(WITH RECURSIVE up (id, next) AS (SELECT ${from}, ${next(from)}
      UNION SELECT up.next, ${next('up.next')} FROM up WHERE up.next IS NOT NULL)
    SELECT coalesce(${one('id', '(SELECT up.id FROM up WHERE up.next IS NULL)')},
      (SELECT max(${one('events_of', 'up.id')}) FROM up)))`
}

/** An event that is old enough for its body to go. */
export interface OldEvent {
  seq: number
  receivedAt: number
  /** Size of the body, 0 once pruned. */
  bytes: number
  /** An unfinished run. */
  neededBy: string | null
}

/**
 * SQL for an unfinished run that needs the body of an event, whose number is SQL. Null: none does.
 * Index: run_caused, and primary keys.
 */
export const findNeeder = (event: string) => `(SELECT id FROM (
    SELECT coalesce((SELECT run_id FROM work WHERE run_id = run.id),
      (SELECT ${findHolder('outcome.folded_into', 'run.work_status IS NOT NULL')}
       FROM outcome WHERE outcome.run_id = run.id AND folded_into IS NOT NULL)) AS id
    FROM run WHERE run.event_seq = ${event}) AS needing
  WHERE id IS NOT NULL LIMIT 1)`

/** SQL for a column of a run, given as SQL: that of its work, and then that of its outcome. */
export function ofRun(column: 'fence' | 'code_hash' | 'folded', run: string): string {
  return `coalesce(
    (SELECT ${column} FROM work WHERE run_id = ${run}), (SELECT ${column} FROM outcome WHERE run_id = ${run}))`
}

/** SQL for `events_of` in a fork or failure run of `run`. Null: no runs were folded into that. */
export const EVENTS_OF = `coalesce(run.events_of, CASE WHEN ${ofRun('folded', 'run.id')} > 0 THEN run.id END)`

/** Puts a new run into the queue, with the priority of its workflow. Index: primary keys. */
export const QUEUE_RUN = `INSERT INTO work (run_id, workflow, status, rank)
  SELECT id, workflow, 'pending', -coalesce((SELECT priority FROM workflow WHERE workflow.id = run.workflow), 0)
  FROM run WHERE id = ?`
