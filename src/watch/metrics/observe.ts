import type { RunRoot } from '../../core/runs/trace.ts'
import type { Spread } from './families.ts'

/** Upper bounds in seconds: of answers, of delays, of runs and steps, of calls over the network. */
export const FAST = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5] as const
export const DELAY = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 5, 30, 300, 3_600] as const
export const LONG = [0.01, 0.05, 0.1, 0.5, 1, 5, 30, 60, 300, 1_800, 3_600, 21_600, 86_400] as const
export const CALL = [...FAST, 10, 30, 60] as const

/**
 * Adds an observation; `root`: the trace that it is an example of. A negative time, of a clock that
 * was set back, adds nothing to the sum: a sum never falls.
 */
export function observe(
  spread: Spread,
  bounds: readonly number[],
  value: number,
  example?: { root: RunRoot; at: number },
): void {
  let bucket = 0
  while (bucket < bounds.length && value > (bounds[bucket] as number)) bucket++
  spread.counts[bucket] = (spread.counts[bucket] as number) + 1
  spread.sum += Math.max(0, value)
  if (example !== undefined) spread.example = { bucket, value, at: example.at, root: example.root }
}
