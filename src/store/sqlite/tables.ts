import { dirname, join } from 'node:path'
import type { Database } from 'better-sqlite3'
import type { Vault } from '../vault.ts'
import { AccountTable } from './account-table.ts'
import { CaptureTable } from './capture-table.ts'
import { DeliveryLedger } from './delivery-ledger.ts'
import { DeliveryTable } from './delivery-table.ts'
import { EndpointTable } from './endpoint-table.ts'
import { EventTable } from './event-table.ts'
import { RunTable } from './run-table.ts'
import { StepTable } from './step-table.ts'
import { TickTable } from './tick-table.ts'
import { WorkerTable } from './worker-table.ts'
import { WriteProbe } from './write-probe.ts'

/** Every table, on one connection. */
export function openTables(db: Database, vault: Vault) {
  const events = new EventTable(db)
  const ticks = new TickTable(db)
  return {
    events,
    ticks,
    accounts: new AccountTable(db, vault),
    deliveries: new DeliveryTable(db, events),
    ledger: new DeliveryLedger(db, events),
    captures: new CaptureTable(db, vault),
    writeProbe: new WriteProbe(db),
    endpoints: new EndpointTable(db, vault),
    runs: new RunTable(db, events, ticks),
    steps: new StepTable(db),
    // A database in memory has no other process, and no folder.
    workers: new WorkerTable(db, db.memory ? null : join(dirname(db.name), 'workers')),
  }
}

export type Tables = ReturnType<typeof openTables>
