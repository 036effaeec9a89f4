import { UpshotError } from '../../core/errors.ts'
import { MAX_OUTPUT_BYTES, type PackedOutput, ROW_OUTPUT_BYTES } from '../../core/runs/step.ts'
import type { Pass } from './pass.ts'

/**
 * Null where the JSON fits into a row. Throws `output_too_large`, naming the step or run by `what`.
 */
export function packOutput(store: Pass['store'], what: string, json: string): Promise<PackedOutput> | null {
  // A UTF-16 unit takes at most 3 bytes, so most results need not be counted.
  const bytes = json.length * 3 <= ROW_OUTPUT_BYTES ? 0 : Buffer.byteLength(json)
  if (bytes <= ROW_OUTPUT_BYTES) return null
  if (bytes <= MAX_OUTPUT_BYTES) return store.packOutput(json)
  throw new UpshotError(
    'output_too_large',
    `${what} returned ${bytes} bytes of JSON; the limit is ${MAX_OUTPUT_BYTES}. Return a summary, ` +
      'write the whole to a file and return its path, or split the work into several steps.',
  )
}
