import type { Clock } from '../../core/time.ts'

/**
 * Milliseconds by which our clock was set forward since this call. None where it was set back, or
 * where the clock has no `uptime`.
 */
export function watchClock(clock: Clock): () => number {
  const startOf = () => clock.now() - (clock.uptime?.() ?? clock.now())
  const started = startOf()
  return () => Math.max(0, startOf() - started)
}
