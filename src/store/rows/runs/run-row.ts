import type { Run } from '../../../core/runs/run.ts'
import type { Progress } from '../../../core/runs/told/progress.ts'

/** Columns that are JSON text. */
type Texts = Record<'error' | 'resolution' | 'tags', string | null>

/** A row of `selectRuns`. It says nothing of its progress where `toldAt` is null. */
export interface RunRow
  extends Omit<Run, keyof Texts | 'isCanceledByRule' | 'isInLine' | 'awaits' | 'apartBytes' | 'progress'>,
    Texts,
    Omit<Progress, 'at'> {
  byRule: number
  awaiting: number
  gateState: string | null
  apartBytes: number | null
  toldAt: number | null
}

export function readRun(row: RunRow): Run {
  const { error, resolution, tags, byRule, awaiting, gateState, apartBytes, ...rest } = row
  const { done, total, failed, note, rate, toldAt, ...run } = rest
  const isWaiting = run.status === 'waiting'
  return {
    ...run,
    isCanceledByRule: byRule === 1,
    awaits: awaiting === 1 && isWaiting,
    isInLine: isWaiting && gateState === 'in_line',
    ...(apartBytes === null ? {} : { apartBytes }),
    error: error === null ? null : JSON.parse(error),
    resolution: resolution === null ? null : JSON.parse(resolution),
    tags: tags === null ? {} : JSON.parse(tags),
    progress: toldAt === null ? null : { done, total, failed, note, rate, at: toldAt },
  }
}
