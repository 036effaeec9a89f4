import type { ReadStore } from '../../core/store/store.ts'
import { READS, readsOfSetup, type TableReads } from '../reads.ts'
import { SetupCache } from '../tables/incoming/setup-cache.ts'
import { ChangeWatch } from './database/change-watch.ts'
import type { GroupCommit } from './database/group-commit.ts'
import { translateFault } from './database/storage-fault.ts'
import type { Tables } from './tables.ts'

/** The read half of the store. It sees committed rows only: no group commit spans two turns. */
export function createReader(tables: Tables): ReadStore {
  const { changes, eventSearch } = tables
  const reads = Object.entries(READS).map(([name, read]) => [name, (...args: unknown[]) => read(tables, ...args)])
  return {
    ...(Object.fromEntries(reads) as TableReads),
    ...readsOfSetup(new SetupCache((use) => use(tables))),
    readSubjects: (limit) => eventSearch.subjects.readNext(limit),
    // It has the clock of its process, and no server.
    readClock: async () => null,
    readServerState: async () => null,
    readServerRoom: async () => null,
    watch: (clock, onChange) => new ChangeWatch({ count: changes, clock, onChange }),
  }
}

/**
 * The same reads, whose faults of the database in `file` reject with `store_unavailable`. With the
 * `commit` of their connection, each waits for the one at work.
 */
export function translateReads(reads: ReadStore, file: string, commit?: GroupCommit): ReadStore {
  const translate = (error: unknown) => Promise.reject(translateFault(error, file))
  const wrapped = Object.entries(reads).map(([name, read]: [string, (...args: never[]) => unknown]) => {
    if (name === 'watch') return [name, read]
    const translated = (...args: never[]) => {
      const result = commit?.work ? commit.work.then(() => read(...args)) : read(...args)
      return result instanceof Promise ? result.catch(translate) : result
    }
    return [name, translated]
  })
  return Object.fromEntries(wrapped)
}
