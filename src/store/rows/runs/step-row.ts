import type { Checkpoint, Effect, StepKind, StepStatus } from '../../../core/runs/step.ts'

export interface StepRow {
  key: string
  position: number
  kind: StepKind
  effect: Effect
  status: StepStatus
  attempt: number
  output: string | null
  apart_bytes: number | null
  error: string | null
  target: string | null
  started_at: number
  finished_at: number | null
  due_at: number | null
  settled: number | null
}

/** No spread: a replay reads thousands of rows. */
export function readStep(row: StepRow): Checkpoint {
  const step: Checkpoint = {
    key: row.key,
    position: row.position,
    kind: row.kind,
    effect: row.effect,
    status: row.status,
    attempt: row.attempt,
    output: row.output,
    error: row.error === null ? null : JSON.parse(row.error),
    target: row.target,
    startedAt: row.started_at,
    finishedAt: row.finished_at,
    dueAt: row.due_at,
  }
  if (row.apart_bytes !== null) step.apartBytes = row.apart_bytes
  if (row.settled !== null) step.settled = row.settled
  return step
}
