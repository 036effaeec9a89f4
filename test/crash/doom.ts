import { flushCompileCache } from 'node:module'
import type { Store } from '../../src/core/store/store.ts'

/** When the process kills itself: before the commit of a store call, or after its answer. */
export type Moment = 'asked' | 'answered'

/** Calls that a timer makes, whose order is left to chance, and reads from memory. */
const UNCOUNTED = ['watch', 'readSetupVersion', 'listLeases', 'listRoutes', 'listSchedules']

/** A store that kills the process at call number `deadline`, counted from 1. */
export function doom(store: Store, moment: Moment, deadline: number): Store {
  // A killed process would leave no compiled code, and the next one would compile all of it again.
  flushCompileCache()
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
