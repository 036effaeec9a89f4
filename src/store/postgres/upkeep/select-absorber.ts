/** SQL for the run that finally absorbed the run `from`; no row once that is pruned. */
export function selectAbsorber(from: string): string {
  return `WITH RECURSIVE up (id) AS (SELECT ${from} COLLATE "C"
      UNION SELECT outcome.folded_into FROM up JOIN outcome ON outcome.run_id = up.id
      WHERE outcome.folded_into IS NOT NULL)
    SELECT 1 FROM up JOIN full_run AS run ON run.id = up.id WHERE run.folded_into IS NULL`
}
