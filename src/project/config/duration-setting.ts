import { z } from 'zod'
import { parseDuration } from '../../core/time.ts'

/** A duration in whole milliseconds; `like` is an example for the message. */
export function durationSetting(fallback: string, like = fallback) {
  return z
    .unknown()
    .default(fallback)
    .transform((given, context) => readDuration(given, context, `must be a duration such as "${like}"`))
}

/** Milliseconds; adds an issue for what is no duration. The file may take its values from JSON. */
export function readDuration(given: unknown, context: z.RefinementCtx, fault: string): number {
  try {
    return parseDuration(given as number | string)
  } catch {
    context.addIssue(fault)
    return z.NEVER
  }
}
