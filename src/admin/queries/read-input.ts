import { UpshotError } from '../../core/errors.ts'
import { toJson } from '../../core/json.ts'

/** Largest input of a run that a person or a program starts. */
const MAX_INPUT_BYTES = 65_536

/** The input as JSON text. Throws `body_too_large`. */
export function readInput(given: unknown): string {
  const input = toJson(given, 'The input')
  if (Buffer.byteLength(input) <= MAX_INPUT_BYTES) return input
  throw new UpshotError('body_too_large', `The input has more than ${MAX_INPUT_BYTES} bytes. Pass ids, not content.`)
}
