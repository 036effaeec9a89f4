import type { RunOutcome } from '../../core/runs/run.ts'
import type { Pass } from '../pass/pass.ts'

/** Default of `gatherMs`. */
const GATHER_MS = 100
/** Steps that a run awaits at a time before its wake-ups are gathered: fewer cost few passes. */
const MANY = 16

/**
 * Lets a run with many open steps sleep a moment after a pass that brought it further. The next
 * pass takes all that has ended by then.
 */
export function gatherWakeUps(
  { run, journal, clock, gatherMs = GATHER_MS }: Pick<Pass, 'run' | 'journal' | 'clock' | 'gatherMs'>,
  outcome: RunOutcome,
): RunOutcome {
  if (outcome.kind !== 'parked' || gatherMs === 0 || run.isFirstPass || !journal.hasRecorded) return outcome
  const { awaits = [], dueAt, reason } = outcome
  if (awaits.length <= MANY) return outcome
  return { kind: 'parked', dueAt: Math.min(dueAt ?? Infinity, clock.now() + gatherMs), reason }
}
