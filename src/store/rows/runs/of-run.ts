/** SQL for a column of a run, given as SQL: that of its work, and then that of its outcome. */
export function ofRun(column: 'fence' | 'code_hash', run: string): string {
  return `coalesce(
    (SELECT ${column} FROM work WHERE run_id = ${run}), (SELECT ${column} FROM outcome WHERE run_id = ${run}))`
}
