import { LIST_READS, type ListReads, type ReadStore } from '../../../core/store/store.ts'
import { READS, readsOfSetup, type TableReads } from '../../reads.ts'
import { SetupCache } from '../../tables/incoming/setup-cache.ts'
import type { Database } from '../database/database.ts'
import type { Tables } from '../tables.ts'

/** The reads of lists alone. `prepare` comes first, in the session of the read. */
export function createListReads(db: Database<Tables>, prepare?: (tables: Tables) => Promise<void>): ListReads {
  return createReads(db, LIST_READS, prepare) as ListReads
}

function createReads(
  db: Database<Tables>,
  names: readonly (keyof TableReads)[],
  prepare?: (tables: Tables) => Promise<void>,
): Partial<ReadStore> {
  const reads = names.map((name) => {
    const perform = READS[name]
    const prepared = async (tables: Tables, ...args: unknown[]) => {
      await prepare?.(tables)
      return perform(tables, ...args)
    }
    const read = prepare ? prepared : perform
    return [name, (...args: unknown[]) => db.read((tables) => read(tables, ...args))]
  })
  return Object.fromEntries(reads)
}

/** The read half of the store. Each read sees what was committed when it was asked. */
export function createReader(db: Database<Tables>, watch: (onChange: () => void) => () => void): ReadStore {
  return {
    ...(createReads(db, Object.keys(READS) as (keyof TableReads)[]) as TableReads),
    ...readsOfSetup(new SetupCache((use) => db.read(use))),
    readClock: () => db.read(askClock),
    readServerState: () => db.read((t) => t.serverState.read()),
    readServerRoom: (now) => db.read((t) => t.serverRoom.read(now)),
    // A search by subject reads bodies here: there is no index to fill.
    readSubjects: async () => null,
    watch: (_clock, onChange) => ({ stop: watch(onChange) }),
  }
}

/** The time of the server, in epoch milliseconds. */
export async function askClock({ clock }: Pick<Tables, 'clock'>): Promise<number | null> {
  return (await clock.get()) ?? null
}
