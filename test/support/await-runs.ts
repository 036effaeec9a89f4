import type { Run } from '../../src/core/runs/run.ts'
import type { TestEngine } from './test-engine.ts'

/**
 * The runs, oldest first, as soon as they are as a test waits for them; looked at after each
 * notice.
 */
export async function awaitRuns(
  { store, notices }: Pick<TestEngine, 'store' | 'notices'>,
  fits: (runs: Run[]) => boolean,
): Promise<Run[]> {
  let wake = () => {}
  const unsubscribe = notices.subscribe('*', () => wake())
  try {
    for (;;) {
      const told = new Promise<void>((resolve) => {
        wake = resolve
      })
      const runs = (await store.listRuns({ limit: 10_000 })).reverse()
      if (fits(runs)) return runs
      await told
    }
  } finally {
    unsubscribe()
  }
}

/** Whether so many runs have each of these statuses, and no run has another. */
export function haveStatus(counts: Partial<Record<Run['status'], number>>): (runs: Run[]) => boolean {
  const all = Object.values(counts).reduce((sum, count) => sum + count, 0)
  return (runs) =>
    runs.length === all &&
    Object.entries(counts).every(([status, count]) => runs.filter((run) => run.status === status).length === count)
}
