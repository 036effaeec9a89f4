import { setTimeout as sleep } from 'node:timers/promises'
import type { Run } from '../../core/runs/run.ts'
import type { Rehearsal } from './rehearsal.ts'

/** Interval of the looks. */
const LOOK_EVERY_MS = 50
/** Looks without work, one after the other, until nothing more is to come. */
const QUIET_LOOKS = 8
/** Runs that are looked at. */
const MAX_RUNS = 1_000

/**
 * Waits until nothing is at work, and sets the clock forward over sleeps and pauses. A run that
 * awaits an event or people stays where it is. False where `signal` aborts first.
 */
export async function awaitRest(rehearsal: Rehearsal, signal: AbortSignal): Promise<boolean> {
  let quiet = 0
  while (!signal.aborted) {
    const runs = await rehearsal.store.listRuns({ limit: MAX_RUNS })
    const next = findNext(runs)
    quiet = isAtWork(rehearsal, runs) ? 0 : quiet + 1
    if (quiet >= QUIET_LOOKS) {
      if (next === null) return true
      if (next > rehearsal.now) await rehearsal.forwardTo(next)
      quiet = 0
    }
    await sleep(LOOK_EVERY_MS)
  }
  return false
}

function isAtWork({ sandbox }: Rehearsal, runs: readonly Run[]): boolean {
  const isRunning = runs.some(({ status }) => status === 'pending' || status === 'running')
  const isSending = (['pending', 'sending'] as const).some((state) => sandbox.deliveries.count({ state }) > 0)
  return isRunning || isSending
}

/** The earliest moment at which a run goes on by itself; null where none does. */
function findNext(runs: readonly Run[]): number | null {
  const moments = runs.flatMap(({ status, dueAt, awaits }) =>
    status === 'waiting' && dueAt !== null && !awaits ? [dueAt] : [],
  )
  return moments.length === 0 ? null : Math.min(...moments)
}
