import { dirname, join } from 'node:path'
import type { Database, Statement } from 'better-sqlite3'
import { openSharedTables } from '../tables/open-shared-tables.ts'
import { TextErasures } from '../tables/upkeep/text-erasures.ts'
import type { Vault } from '../vault.ts'
import { openConnection } from './database/connection.ts'
import { WriteProbe } from './database/write-probe.ts'
import { DeliveryTable } from './incoming/delivery-table.ts'
import { EventTable } from './incoming/event-table.ts'
import { Claims } from './runs/claims.ts'
import { WorkerTable } from './runs/worker-table.ts'
import { EventSearcher } from './search/event-searcher.ts'
import { BodyPruning } from './upkeep/body-pruning.ts'

export function openTables(raw: Database, vault: Vault, db = openConnection(raw)) {
  const events = new EventTable(db)
  const bodies = new BodyPruning(db, { events })
  const shared = openSharedTables(db, vault, { events, weeks: NO_WEEKS, bodies })
  const { claimReader, gates, unmatched, workflows } = shared
  const eventSearch = new EventSearcher(db)
  return {
    ...shared,
    events,
    claims: new Claims(db, { reader: claimReader, workflows }),
    changes: openChangeCount(db.raw),
    deliveries: new DeliveryTable(db, { events, unmatched }),
    eventSearch,
    textErasures: new TextErasures(db, { ...shared, subjects: eventSearch.subjects }),
    // A database in memory has no other process, and no folder.
    workers: new WorkerTable(db, gates, raw.memory ? null : join(dirname(raw.name), 'workers')),
    writeProbe: new WriteProbe(db),
  }
}

/** A file gives no space back however its rows go, so it has no weeks. */
const NO_WEEKS = { list: async () => [], measure: async () => 0, edge: async () => Number.MAX_SAFE_INTEGER }

/**
 * A number that changes with every commit: `data_version` counts those of other connections,
 * `total_changes()` the rows that this one changed.
 */
function openChangeCount(db: Database): () => number {
  let count: Statement<[], number> | null = null
  return () => {
    count ??= db.prepare<[], number>('SELECT data_version + total_changes() FROM pragma_data_version').pluck()
    return count.get() ?? 0
  }
}

export type Tables = ReturnType<typeof openTables>
