import type { Database } from 'better-sqlite3'
import type { Store } from '../../src/core/store/store.ts'
import type { ReceiverStore } from '../../src/receive/receiver.ts'
import { readsOfSetup } from '../../src/store/reads.ts'
import { migrate } from '../../src/store/sqlite/database/migrate.ts'
import { openDatabase } from '../../src/store/sqlite/database/open-database.ts'
import type { SqliteStoreOptions } from '../../src/store/sqlite/open-sqlite-store.ts'
import { openTables } from '../../src/store/sqlite/tables.ts'
import { SetupCache } from '../../src/store/tables/incoming/setup-cache.ts'
import { createVault } from '../../src/store/vault.ts'

export type IngestStore = ReceiverStore & Pick<Store, 'saveDelivery' | 'addEndpoint'>

/** The receiver's part of the store on the same tables and settings, one commit per write. */
export function openOneCommitStore({ file, vaultKey }: SqliteStoreOptions): IngestStore {
  const db = openDatabase(file)
  migrate(db)
  const tables = openTables(db, createVault(vaultKey))
  const { deliveries, refusals, ledger, captures, endpoints, hooks } = tables
  const alone = performAlone(db)
  return {
    ...readsOfSetup(new SetupCache((use) => use(tables))),
    listDeliveries: async (query) => ledger.list(query),
    addEndpoint: async (endpoint) => alone(() => endpoints.add(endpoint)),
    saveDelivery: async (delivery) => alone(() => deliveries.save(delivery)),
    saveRefusal: async (delivery) => alone(() => refusals.save(delivery)),
    countRefusals: async (unlisted) => alone(() => refusals.count(unlisted)),
    saveCapture: async (capture) => alone(() => captures.save(capture)),
    listCaptures: async (endpointId) => captures.list(endpointId),
    loadHookKey: async () => alone(() => hooks.loadKey()),
    findHook: async (id) => hooks.find(id),
    answerHook: async (answer) => alone(() => hooks.answer(answer)),
    dropCaptures: async (endpointId) => alone(() => captures.drop(endpointId)),
  }
}

/** Performs one write after the other, each in a commit of its own. */
function performAlone(db: Database): <T>(write: () => Promise<T>) => Promise<T> {
  const [begin, commit, rollback] = ['BEGIN IMMEDIATE', 'COMMIT', 'ROLLBACK'].map((sql) => db.prepare(sql))
  let last: Promise<unknown> = Promise.resolve()
  return (write) => {
    const written = last.then(async () => {
      begin?.run()
      try {
        const value = await write()
        commit?.run()
        return value
      } catch (error) {
        rollback?.run()
        throw error
      }
    })
    last = written.catch(() => {})
    return written
  }
}
