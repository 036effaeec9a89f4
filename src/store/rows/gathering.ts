import type { Fold } from '../../core/runs/admission.ts'
import type { RunStatus } from '../../core/runs/run.ts'

/** The run that asks to be admitted. */
export interface Applicant {
  id: string
  workflow: string
  eventSeq: number | null
  createdAt: number
  startedAt: number | null
  gateState: string | null
  folded: number | null
  depth: number
}

/** The run that gathers the events of a key now. */
export interface Gathering {
  runId: string
  since: number
  dueAt: number
  wakeAt: number | null
  status: RunStatus
  eventSeq: number | null
  folded: number
  /** The first run whose place a newer one took; null for none. */
  firstRun: string | null
}

/** True where one more event fills a batch. */
export function isFull(fold: Fold, folded: number): boolean {
  return fold.kind === 'batch' && folded + 1 >= fold.size
}
