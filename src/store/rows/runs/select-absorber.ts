/**
 * SQL for the run that finally absorbed the run `from`; no row once that is pruned. Subqueries have
 * one row: PostgreSQL expects many rows of a recursion, and would read all runs instead.
 */
export function selectAbsorber(from: string): string {
  const next = (id: string) => `(SELECT folded_into FROM outcome WHERE outcome.run_id = ${id})`
  return `WITH RECURSIVE up (id, next) AS (
      SELECT one.id, ${next('one.id')} FROM run AS one WHERE one.id = ${from}
      UNION SELECT up.next, ${next('up.next')} FROM up WHERE up.next IS NOT NULL)
    SELECT 1 FROM full_run AS run WHERE run.id = (SELECT up.id FROM up WHERE up.next IS NULL)`
}
