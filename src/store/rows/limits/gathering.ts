import type { Fold } from '../../../core/runs/admission.ts'
import type { RunStatus } from '../../../core/runs/run.ts'

/** The run that asks to be admitted. */
export interface Applicant {
  id: string
  workflow: string
  event_seq: number | null
  started_at: number | null
  gate_state: string | null
  folded: number | null
  depth: number
}

/** The run that gathers the events of a key now. */
export interface Gathering {
  run_id: string
  since: number
  due_at: number
  wake_at: number | null
  status: RunStatus
  event_seq: number | null
  folded: number
}

/** True where one more event fills a batch. */
export function isFull(fold: Fold, folded: number): boolean {
  return fold.kind === 'batch' && folded + 1 >= fold.size
}
