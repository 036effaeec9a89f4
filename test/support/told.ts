import type { Notice } from '../../src/core/notices.ts'
import type { Run } from '../../src/core/runs/run.ts'
import type { Store } from '../../src/core/store/store.ts'
import type { Worker } from '../../src/engine/worker.ts'
import { eventBody, incoming } from './fixtures.ts'
import type { TestEngine } from './test-engine.ts'

/** Stores an event that starts nothing, as a delivery would, and tells the workers of it. */
export async function tell(
  engine: Pick<TestEngine, 'store' | 'clock'>,
  workers: Worker | readonly Worker[],
  event: { id: string; type: string; data: object; account?: string; workflows?: string[] },
): Promise<string[]> {
  const { id, type, data, account = 'default', workflows = [] } = event
  const receivedAt = engine.clock.now()
  const body = eventBody(id, type, data)
  const { runs } = await engine.store.saveDelivery(incoming(id, { body, account, workflows, receivedAt }))
  for (const worker of [workers].flat()) {
    worker.matchEvents()
    if (runs.length > 0) worker.wake()
  }
  return runs
}

/** The run as soon as it is in one of these states; it need not be there by a step of this test. */
export async function arrival(
  { store, notices }: Pick<TestEngine, 'store' | 'notices'>,
  runId: string,
  ...states: Run['status'][]
): Promise<Run> {
  return watch(notices, async () => {
    const run = await store.findRun(runId)
    return run && states.includes(run.status) ? run : null
  })
}

/** What `look` finds, asked again after every notice. */
export async function watch<T>(notices: TestEngine['notices'], look: () => Promise<T | null>): Promise<T> {
  for (;;) {
    const told = new Promise<void>((resolve) => {
      const stop = notices.subscribe('*', (_: Notice) => {
        stop()
        resolve()
      })
    })
    const found = await look()
    if (found !== null) return found
    await told
  }
}

/**
 * A store that calls `before` ahead of each write, and `after` behind it, with the write's number,
 * counted from 1.
 */
export function countWrites(
  store: Store,
  { before, after }: { before?: (write: number) => Promise<void>; after?: (write: number) => Promise<void> },
): Store {
  let writes = 0
  return new Proxy(store, {
    get(target, name) {
      const method = Reflect.get(target, name)
      if (typeof method !== 'function' || !WRITES.test(String(name))) return method
      return async (...args: unknown[]) => {
        const write = ++writes
        await before?.(write)
        const answer = await Reflect.apply(method, target, args)
        await after?.(write)
        return answer
      }
    },
  })
}

const WRITES =
  /^(claimRuns|saveCheckpoint|watchRun|completeRun|failRun|parkRun|postponeRun|openMatchCursor|saveMatches)$/
