import type { OnceStepOptions } from '../../author/steps/step-api.ts'
import { isA, UpshotError } from '../../core/errors.ts'
import { planRetries } from '../../core/runs/retry.ts'
import { parseDuration } from '../../core/time.ts'

/** An error that names the step and the option that is not valid; null if all are. */
export function findOptionFault(key: string, { timeout, retry }: OnceStepOptions): UpshotError | null {
  try {
    if (timeout !== undefined) parseDuration(timeout, 'timeout')
    if (retry !== undefined) planRetries(retry)
    return null
  } catch (error) {
    if (isA(error, UpshotError)) return new UpshotError(error.code, `Step "${key}": ${error.message}`)
    throw error
  }
}
