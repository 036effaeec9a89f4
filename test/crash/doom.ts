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
  return countCalls(store, (call, make) => {
    const answer = make()
    if (call === deadline && moment === 'asked') die()
    return call === deadline ? answer.finally(die) : answer
  })
}

/** A store that tells of the answer of each call before its caller goes on. */
export function onAnswer(store: Store, tell: () => void): Store {
  return countCalls(store, (_, make) => make().finally(tell))
}

function countCalls(store: Store, around: (call: number, make: () => Promise<unknown>) => unknown): Store {
  let calls = 0
  return new Proxy(store, {
    get(target, name) {
      const method = Reflect.get(target, name)
      if (typeof method !== 'function' || UNCOUNTED.includes(String(name))) return method
      return (...args: unknown[]) => around(++calls, () => Reflect.apply(method, target, args))
    },
  })
}

function die(): void {
  process.kill(process.pid, 'SIGKILL')
}
