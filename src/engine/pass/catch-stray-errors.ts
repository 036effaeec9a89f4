import { describeError } from '../../core/errors.ts'
import type { Publish } from '../../core/notices.ts'
import { currentPass } from './scope.ts'

/**
 * Keeps errors that no code awaits from ending the process: rejections that nobody handles, and
 * exceptions in timers and callbacks. Each is a `fault` notice and fails the run whose code it
 * comes from. `isKnown`: an error that is told elsewhere, and ends nothing. See decision 34.
 */
export function catchStrayErrors(publish: Publish, isKnown: (error: unknown) => boolean = () => false): void {
  const catchError = (error: unknown) => {
    if (isKnown(error)) return
    const pass = currentPass()
    pass?.order.noteMove()
    pass?.parking.stop({ kind: 'threw', error })
    const where = pass ? `code of run ${pass.run.lease.runId} that nothing awaits` : 'code that nothing awaits'
    publish({ kind: 'fault', where, error: describeError(error) })
  }
  process.on('unhandledRejection', catchError)
  process.on('uncaughtException', catchError)
}
