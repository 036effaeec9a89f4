import type { Store } from '../../src/core/store/store.ts'

/** A store that calls `before` and `after` around each write with its number, counted from 1. */
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
