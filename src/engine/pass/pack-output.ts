import { UpshotError } from '../../core/errors.ts'
import { MAX_OUTPUT_BYTES, type PackedOutput, ROW_OUTPUT_BYTES } from '../../core/runs/step.ts'
import type { PassStore } from './pass.ts'

/**
 * Null: the JSON fits into a row. `what` names the step or run in the error, `output_too_large`.
 */
export function packOutput(store: PassStore, what: string, json: string): Promise<PackedOutput> | null {
  // No character takes more than 3 bytes, so that most results need not be counted.
  const bytes = json.length * 3 <= ROW_OUTPUT_BYTES ? 0 : Buffer.byteLength(json)
  if (bytes <= ROW_OUTPUT_BYTES) return null
  if (bytes <= MAX_OUTPUT_BYTES) return store.packOutput(json)
  throw new UpshotError(
    'output_too_large',
    `${what} returned ${bytes} bytes of JSON; ${MAX_OUTPUT_BYTES} are kept at most. Return a summary, write the whole to a ` +
      'file and return its path, or cut the work into several steps.',
  )
}
