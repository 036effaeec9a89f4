import type { Run, RunFilter } from '../runs/run.ts'
import type { ReadStore } from './store.ts'

/** Selects failed runs; every part narrows. */
export type FailureFilter = Pick<RunFilter, 'workflow' | 'since' | 'until' | 'error' | 'step' | 'tags'>

/** Most runs that a count goes up to; it stands for "more than 100,000". */
export const MAX_COUNTED = 100_001

/** Runs that somebody may have to look at. Counts stop at {@link MAX_COUNTED}. */
export interface OpenRuns {
  pending: number
  running: number
  waiting: number
  /** The waiting ones that only a person lets go on. */
  forPerson: number
  /**
   * Failed runs that no person has resolved, and whose kind nobody has resolved since, nor snoozed
   * for longer. One that is retried counts again only if it fails again.
   */
  openFailures: number
  /** When the oldest pending run was made, in epoch milliseconds; null: none is pending. */
  oldestPendingAt: number | null
}

/** The same without those that wait. */
export interface RunCounts extends Omit<OpenRuns, 'waiting' | 'openFailures'> {
  /** Runs made since a moment that have failed, and that no person has resolved. */
  failed: number
}

/** Most runs before and after a run that its chain is read to. */
const MAX_LINKS = 50

/**
 * The runs that go on in each other's place, oldest first, with up to 50 before and after this one.
 * Empty where the run neither continues another one nor is continued.
 */
export async function readChain(store: Pick<ReadStore, 'findRun'>, run: Run): Promise<Run[]> {
  const before = await follow(store, run, ({ origin, originRun }) => (origin === 'continue' ? originRun : null))
  const after = await follow(store, run, ({ continuedBy }) => continuedBy)
  return before.length + after.length === 0 ? [] : [...before.toReversed(), run, ...after]
}

async function follow(store: Pick<ReadStore, 'findRun'>, from: Run, next: (run: Run) => string | null): Promise<Run[]> {
  const found: Run[] = []
  let link = next(from)
  while (link !== null && found.length < MAX_LINKS) {
    const run: Run | null = await store.findRun(link)
    // Retention removes the oldest runs of a chain.
    if (!run) break
    found.push(run)
    link = next(run)
  }
  return found
}
