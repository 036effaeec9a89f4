import { UpshotError } from '../../core/errors.ts'
import { findTagFault, MAX_TAGS, type TagValue } from '../../core/runs/told/tags.ts'
import { findCallPlace } from '../pass/find-call-place.ts'
import type { Pass } from '../pass/pass.ts'

/** Gives the run of a pass a tag, which is written with its next step, or with its end. */
export function tagRun(pass: Pass, name: string, value: TagValue): void {
  pass.order.noteMove()
  if (pass.parking.isClosed) return
  if (pass.parking.hasCodeEnded) throw refuse('run_ended', 'it was called after the function of the run had ended')
  const fault = findTagFault(name, value)
  if (fault) throw refuse('invalid_workflow', fault)
  if (pass.tags.set(name, String(value))) return
  throw refuse('invalid_workflow', `the run has ${MAX_TAGS} tags already, and "${name}" is one more`)
}

function refuse(code: 'invalid_workflow' | 'run_ended', fault: string): UpshotError {
  const place = findCallPlace()
  return new UpshotError(code, `tag: ${fault}${place === null ? '' : `, at ${place}`}.`)
}
