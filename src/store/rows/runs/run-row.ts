import type { Run, RunHandler, RunOrigin, RunStatus } from '../../../core/runs/run.ts'

/** A row of a query for runs, in either store. */
export interface RunRow {
  id: string
  workflow: string
  status: RunStatus
  reason: string | null
  event_id: string | null
  account: string
  tick_at: number | null
  schedule: string | null
  parent_run: string | null
  parent_step: string | null
  attempt: number
  created_at: number
  started_at: number | null
  finished_at: number | null
  due_at: number | null
  deadline: number | null
  by_rule: number
  awaits: number
  gate_state: string | null
  folded_into: string | null
  folded: number | null
  output: string | null
  apart_bytes: number | null
  error: string | null
  origin: RunOrigin
  origin_run: string | null
  handler: RunHandler
  continued_by: string | null
  resolution: string | null
  tags: string | null
  /** Null in the row of a run that says nothing. */
  told_at: number | null
  done: number | null
  total: number | null
  failed: number | null
  note: string | null
  rate: number | null
}

export function readRun(row: RunRow): Run {
  return {
    id: row.id,
    workflow: row.workflow,
    status: row.status,
    reason: row.reason,
    eventId: row.event_id,
    account: row.account,
    tickAt: row.tick_at,
    schedule: row.schedule,
    origin: row.origin,
    originRun: row.origin_run,
    handler: row.handler,
    continuedBy: row.continued_by,
    parentRun: row.parent_run,
    parentStep: row.parent_step,
    attempt: row.attempt,
    createdAt: row.created_at,
    startedAt: row.started_at,
    finishedAt: row.finished_at,
    dueAt: row.due_at,
    deadline: row.deadline,
    isCanceledByRule: row.by_rule === 1,
    awaits: row.awaits === 1 && row.status === 'waiting',
    isInLine: row.status === 'waiting' && row.gate_state === 'in_line',
    foldedInto: row.folded_into,
    folded: row.folded ?? 0,
    output: row.output,
    ...(row.apart_bytes === null ? {} : { apartBytes: row.apart_bytes }),
    error: row.error === null ? null : JSON.parse(row.error),
    resolution: row.resolution === null ? null : JSON.parse(row.resolution),
    tags: row.tags === null ? {} : JSON.parse(row.tags),
    progress: readProgress(row),
  }
}

function readProgress({ told_at, done, total, failed, note, rate }: RunRow): Run['progress'] {
  if (told_at === null) return null
  return { done: done ?? 0, total: total ?? 0, failed: failed ?? 0, note, rate, at: told_at }
}
