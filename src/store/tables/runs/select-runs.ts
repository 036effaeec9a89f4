import { DEFAULT_ACCOUNT } from '../../../core/service/account.ts'
import type { Dialect } from '../../dialect.ts'

/** Selects runs of `full_run` with their event's id, in the columns of `RunRow`. */
export const selectRuns = (sql: Dialect) => `SELECT run.id, run.workflow, run.status, run.reason,
    event.id AS event_id,
    coalesce(event.account, run.account, '${DEFAULT_ACCOUNT}') AS account, run.tick_at,
    coalesce((SELECT name FROM schedule WHERE schedule.id = run.schedule), run.schedule) AS schedule,
    run.parent_run, run.parent_step, run.attempt, run.created_at, run.started_at, run.finished_at, run.due_at,
    run.by_rule, run.awaits, run.gate_state, run.folded_into, run.folded, run.output, run.apart_bytes, run.error,
    run.origin, run.origin_run, run.handler, run.continued_by, run.resolution,
    ${sql.tagsOf('run.id')} AS tags,
    progress.done, progress.total, progress.failed, progress.note, progress.rate, progress.told_at,
    run.started_at + (SELECT run_timeout FROM workflow WHERE workflow.id = run.workflow) AS deadline
  FROM full_run AS run LEFT JOIN run_progress AS progress ON progress.run_id = run.id
    LEFT JOIN event ON ${sql.isEvent('run.event_seq')}`
