import type { Progress } from '../../../core/runs/annotations/progress.ts'
import type { Run } from '../../../core/runs/run.ts'
import { DEFAULT_ACCOUNT } from '../../../core/service/account.ts'
import type { Dialect } from '../../dialect.ts'

/** Selects runs of `full_run` with their event's id, in the columns of `RunRow`. */
export const selectRuns = (sql: Dialect) => `SELECT run.id, run.workflow, run.status, run.reason, event.id AS event_id,
    coalesce(event.account, run.account, '${DEFAULT_ACCOUNT}') AS account, run.tick_at,
    coalesce((SELECT name FROM schedule WHERE schedule.id = run.schedule), run.schedule) AS schedule,
    run.parent_run, run.parent_step, run.attempt, run.created_at, run.started_at, run.finished_at, run.due_at,
    run.by_rule, run.awaits AS awaiting, run.gate_state, run.folded_into, coalesce(run.folded, 0) AS folded,
    run.output, run.apart_bytes, run.error, run.origin, run.origin_run, run.handler, run.continued_by, run.resolution,
    ${sql.tagsOf('run.id')} AS tags,
    progress.done, progress.total, progress.failed, progress.note, progress.rate, progress.reported_at,
    run.started_at + (SELECT run_timeout FROM workflow WHERE workflow.id = run.workflow) AS deadline
  FROM full_run AS run LEFT JOIN run_progress AS progress ON progress.run_id = run.id
    LEFT JOIN event ON ${sql.isEvent('run.event_seq')}`

/** Columns that are JSON text. */
type Texts = Record<'error' | 'resolution' | 'tags', string | null>

/** A row of `selectRuns`. It says nothing of its progress where `reportedAt` is null. */
export interface RunRow
  extends Omit<Run, keyof Texts | 'isCanceledByRule' | 'isInLine' | 'awaits' | 'apartBytes' | 'progress'>,
    Texts,
    Omit<Progress, 'at'> {
  byRule: number
  awaiting: number
  gateState: string | null
  apartBytes: number | null
  reportedAt: number | null
}

export function readRun(row: RunRow): Run {
  const { error, resolution, tags, byRule, awaiting, gateState, apartBytes, ...rest } = row
  const { done, total, failed, note, rate, reportedAt, ...run } = rest
  const isWaiting = run.status === 'waiting'
  return {
    ...run,
    isCanceledByRule: byRule === 1,
    awaits: awaiting === 1 && isWaiting,
    isInLine: isWaiting && gateState === 'in_line',
    ...(apartBytes === null ? {} : { apartBytes }),
    // The row of a run that completed has that of an attempt before.
    error: error === null || run.status === 'completed' ? null : JSON.parse(error),
    resolution: resolution === null ? null : JSON.parse(resolution),
    tags: tags === null ? {} : JSON.parse(tags),
    progress: reportedAt === null ? null : { done, total, failed, note, rate, at: reportedAt },
  }
}
