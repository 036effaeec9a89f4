import { relative } from 'node:path'
import { describeError, findAuthorFrame } from '../../core/errors.ts'
import { silence } from '../../core/thenable.ts'

/**
 * Calls an author's function; a promise that it returns is silenced, and refused by the caller.
 * `name`: of the function, in the error where it throws.
 */
export function callAuthor<T>(name: string, call: () => T): T {
  try {
    return silence(call())
  } catch (error) {
    const failure = describeError(error)
    const frame = findAuthorFrame(failure)
    throw new Error(
      `${name} threw: ${failure.message}${frame === null ? '' : `, at ${relative(process.cwd(), frame)}`}`,
    )
  }
}
