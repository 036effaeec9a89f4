import type { Store } from '../../src/core/store/store.ts'

/**
 * When the process kills itself: as it asks the store, before anything is committed, or when the
 * store has answered.
 */
export type Moment = 'asked' | 'answered'

/**
 * Looks that a timer makes would spread the n-th call over chance; the others are reads of what is
 * in memory.
 */
const UNCOUNTED = ['changeCount', 'listLeases', 'listRoutes', 'listSchedules']

/** A store whose process dies at the n-th call, counted from 1. */
export function doom(store: Store, moment: Moment, deadline: number): Store {
  let calls = 0
  return new Proxy(store, {
    get(target, name) {
      const method = Reflect.get(target, name)
      if (typeof method !== 'function' || UNCOUNTED.includes(String(name))) return method
      return (...args: unknown[]) => {
        const isLast = ++calls === deadline
        const answer: Promise<unknown> = Reflect.apply(method, target, args)
        if (isLast && moment === 'asked') die()
        return isLast ? answer.finally(die) : answer
      }
    },
  })
}

function die(): void {
  process.kill(process.pid, 'SIGKILL')
}
