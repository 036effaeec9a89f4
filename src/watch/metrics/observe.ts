import type { RunRoot } from '../../core/runs/trace.ts'
import type { Spread } from './families.ts'

/** Adds an observation; `root`: the trace that it is an example of. */
export function observe(
  spread: Spread,
  bounds: readonly number[],
  value: number,
  example?: { root: RunRoot; at: number },
): void {
  let bucket = 0
  while (bucket < bounds.length && value > (bounds[bucket] as number)) bucket++
  spread.counts[bucket] = (spread.counts[bucket] as number) + 1
  spread.sum += value
  if (example !== undefined) spread.example = { bucket, value, at: example.at, root: example.root }
}
