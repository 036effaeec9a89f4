import { fork } from 'node:child_process'
import { once } from 'node:events'
import type { Store } from '../../src/core/store/store.ts'
import { type DatabaseName, inDatabase } from '../support/databases.ts'
import { inStore } from '../support/open-place.ts'

interface Death<Given> {
  /** Program of the process, which is given the place, what `prepare` gave, a moment and a call. */
  child: string
  prepare: (store: Store) => Promise<Given>
  call: number
}

/** Kills a process at its n-th store call, and looks at what is left; true where it lived on. */
export function dieInPlace<Given>(
  database: DatabaseName,
  { child, prepare, call }: Death<Given>,
  checkRest: (store: Store, given: Given) => Promise<void>,
): Promise<boolean> {
  return inDatabase(database, async (place) => {
    const given = await inStore(place, prepare)
    const arguments_ = [JSON.stringify(place), JSON.stringify(given), 'answered', String(call)]
    const [code] = await once(fork(child, arguments_, { execArgv: [] }), 'exit')
    await inStore(place, (store) => checkRest(store, given))
    return code === 0
  })
}
