import { fork } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync, writeFileSync } from 'node:fs'
import type { Store } from '../../src/core/store/store.ts'
import { type DatabaseName, inDatabase } from '../support/databases.ts'
import { inStore } from '../support/open-place.ts'

interface Death<Given> {
  /** Program of the process, which is given the place, what `prepare` gave, a moment and a call. */
  child: string
  prepare: (store: Store) => Promise<Given>
}

/**
 * Kills a process at its n-th store call, and looks at what is left; true where it lived on. A file
 * is prepared once, and copied for each death.
 */
export function dieInPlace<Given>(
  database: DatabaseName,
  { child, prepare }: Death<Given>,
  checkRest: (store: Store, given: Given) => Promise<void>,
): (call: number) => Promise<boolean> {
  let prepared: Promise<{ given: Given; image: Buffer }> | undefined
  const prepareFile = () =>
    inDatabase('SQLite', async (place) => {
      const given = await inStore(place, prepare)
      return { given, image: readFileSync('file' in place ? place.file : '') }
    })
  return (call) =>
    inDatabase(database, async (place) => {
      prepared ??= 'file' in place ? prepareFile() : undefined
      const copy = await prepared
      if (copy && 'file' in place) writeFileSync(place.file, copy.image)
      const given = copy?.given ?? (await inStore(place, prepare))
      const arguments_ = [JSON.stringify(place), JSON.stringify(given), 'answered', String(call)]
      const [code] = await once(fork(child, arguments_, { execArgv: [] }), 'exit')
      await inStore(place, (store) => checkRest(store, given))
      return code === 0
    })
}
