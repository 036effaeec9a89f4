import type { Store } from '../../src/core/store.ts'
import { openThreadedStore } from '../../src/store/sqlite/threaded-store.ts'
import { createScenario } from './scenario.ts'

/** When the process kills itself: as it asks the store, before anything is committed, or when the store has answered. */
export type Moment = 'asked' | 'answered'

const [dataDir = '', moment = 'asked', at = '0'] = process.argv.slice(2)
const deadline = Number(at)

/** Looks that a timer makes would spread the n-th call over chance; the others are reads of what is in memory. */
const UNCOUNTED = ['changeCount', 'listLeases', 'listRoutes', 'listSchedules']

/** Dies at the n-th call of the store, counted from 1. */
function doom(store: Store): Store {
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

const app = await createScenario(dataDir, 'first', (options) => doom(openThreadedStore(options)))
process.on('message', () => app.stop().then(() => process.exit(0)))
app.notices.subscribe('run.completed', ({ run }) => process.send?.({ completed: run }))
process.send?.({ urls: await app.start() })
