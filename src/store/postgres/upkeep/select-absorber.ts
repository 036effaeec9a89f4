/** SQL for the run that finally absorbed the run `from`; no row once that is pruned. */
export function selectAbsorber(from: string): string {
  return `WITH RECURSIVE up (id) AS (SELECT ${from} COLLATE "C"
      UNION SELECT outcome.folded_into
        FROM up CROSS JOIN LATERAL (SELECT folded_into FROM outcome WHERE run_id = up.id LIMIT 1) AS outcome
      WHERE outcome.folded_into IS NOT NULL)
    SELECT 1 FROM up CROSS JOIN LATERAL (SELECT * FROM full_run WHERE id = up.id LIMIT 1) AS run
    WHERE run.folded_into IS NULL`
}
