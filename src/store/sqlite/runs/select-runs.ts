import { DEFAULT_ACCOUNT } from '../../../core/service/account.ts'

/** Selects runs with their event's id, by `index`: `INDEXED BY …`, `NOT INDEXED` or nothing. */
export function selectRuns(index = ''): string {
  return `SELECT run.id, workflow, status, reason, event.id AS event_id,
    coalesce(event.account, run.account, '${DEFAULT_ACCOUNT}') AS account, tick_at, parent_run, parent_step,
    attempt, run.created_at, started_at, finished_at, due_at, by_rule, awaits, gate_state, folded_into, folded, output,
    apart_bytes, error, run.origin, origin_run, handler, continued_by, resolution,
    started_at + (SELECT run_timeout FROM workflow WHERE workflow.id = run.workflow) AS deadline
  FROM run ${index} LEFT JOIN event ON event.seq = run.event_seq`
}
