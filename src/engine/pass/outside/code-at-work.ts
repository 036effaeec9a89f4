import { findCallPlace } from '../find-call-place.ts'
import { runAtWork } from '../scope.ts'

/** The run that a thread works for, and where its code is. */
export interface CodeAtWork {
  run: string
  /** File, line and column; null where no code of authors is on the stack. */
  place: string | null
}

/** The run and place of the code that is interrupted; null where the thread works for no run. */
export function findCodeAtWork(): CodeAtWork | null {
  const run = runAtWork()
  return run === null ? null : { run, place: findCallPlace() }
}
