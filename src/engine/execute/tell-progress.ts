import { UpshotError } from '../../core/errors.ts'
import { findProgressFault, MAX_NOTE_LENGTH } from '../../core/runs/told/progress.ts'
import { findCallPlace } from '../pass/find-call-place.ts'
import type { Pass } from '../pass/pass.ts'

/** Takes the code's word for how far its run has come. */
export function tellProgress(pass: Pass, done: number, total: number, note?: string): void {
  pass.order.noteMove()
  const fault = findProgressFault(done, total, note)
  if (fault !== null) {
    const place = findCallPlace()
    throw new UpshotError('invalid_workflow', `progress: ${fault}${place === null ? '' : `, at ${place}`}.`)
  }
  pass.progress.tell({ done, total, failed: 0, note: note === undefined ? null : note.slice(0, MAX_NOTE_LENGTH) })
}
