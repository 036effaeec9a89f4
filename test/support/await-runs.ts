import type { Run } from '../../src/core/runs/run.ts'
import type { TestEngine } from './test-engine.ts'

/** All runs, oldest first, as soon as they fit; checked again after every notice. */
export function awaitRuns(
  { store, notices }: Pick<TestEngine, 'store' | 'notices'>,
  fits: (runs: Run[]) => boolean,
): Promise<Run[]> {
  return awaitFound(notices, async () => {
    const runs = (await store.listRuns({ limit: 10_000 })).reverse()
    return fits(runs) ? runs : null
  })
}

/** Whether exactly this many runs have each of these statuses, and no run has another. */
export function haveStatus(counts: Partial<Record<Run['status'], number>>): (runs: Run[]) => boolean {
  const all = Object.values(counts).reduce((sum, count) => sum + count, 0)
  return (runs) =>
    runs.length === all &&
    Object.entries(counts).every(([status, count]) => runs.filter((run) => run.status === status).length === count)
}

/** The run as soon as it has one of these statuses; it may have it already. */
export function awaitStatus(
  { store, notices }: Pick<TestEngine, 'store' | 'notices'>,
  runId: string,
  ...statuses: Run['status'][]
): Promise<Run> {
  return awaitFound(notices, async () => {
    const run = await store.findRun(runId)
    return run && statuses.includes(run.status) ? run : null
  })
}

/** The result of `find` as soon as it is not null; called again after every notice. */
export async function awaitFound<T>(notices: TestEngine['notices'], find: () => Promise<T | null>): Promise<T> {
  for (;;) {
    const noticed = new Promise<void>((resolve) => {
      const stop = notices.subscribe('*', () => {
        stop()
        resolve()
      })
    })
    const found = await find()
    if (found !== null) return found
    await noticed
  }
}
