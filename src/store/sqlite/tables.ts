import { dirname, join } from 'node:path'
import type { Database } from 'better-sqlite3'
import type { Vault } from '../vault.ts'
import { AccountTable } from './account-table.ts'
import { AdmissionTable } from './admission-table.ts'
import { CaptureTable } from './capture-table.ts'
import { DeliveryLedger } from './delivery-ledger.ts'
import { DeliveryTable } from './delivery-table.ts'
import { EndpointTable } from './endpoint-table.ts'
import { EventTable } from './event-table.ts'
import { GateTable } from './gate-table.ts'
import { LimitTable } from './limit-table.ts'
import { OperationTable } from './operation-table.ts'
import { OutputTable } from './output-table.ts'
import { PruneTable } from './prune-table.ts'
import { RunTable } from './run-table.ts'
import { StepTable } from './step-table.ts'
import { TickTable } from './tick-table.ts'
import { WaitTable } from './wait-table.ts'
import { WatchTable } from './watch-table.ts'
import { WorkerTable } from './worker-table.ts'
import { WorkflowTable } from './workflow-table.ts'
import { WriteProbe } from './write-probe.ts'

/** Every table, on one connection. */
export function openTables(db: Database, vault: Vault) {
  const events = new EventTable(db)
  const ticks = new TickTable(db)
  const workflows = new WorkflowTable(db)
  const runs = new RunTable(db, events, ticks, workflows)
  const steps = new StepTable(db)
  const watches = new WatchTable(db)
  const waits = new WaitTable(db, { runs, events, watches })
  const outputs = new OutputTable(db)
  const gates = new GateTable(db)
  return {
    events,
    ticks,
    accounts: new AccountTable(db, vault),
    workflows,
    runs,
    steps,
    operations: new OperationTable(db, { events, runs, steps }),
    retention: new PruneTable(db, events),
    changes: openChangeCount(db),
    gates,
    admissions: new AdmissionTable(db, gates, waits),
    deliveries: new DeliveryTable(db, events),
    ledger: new DeliveryLedger(db, events),
    captures: new CaptureTable(db, vault),
    writeProbe: new WriteProbe(db),
    endpoints: new EndpointTable(db, vault),
    watches,
    waits,
    outputs,
    limits: new LimitTable(db),
    // A database in memory has no other process, and no folder.
    workers: new WorkerTable(db, db.memory ? null : join(dirname(db.name), 'workers')),
  }
}

/**
 * SQLite counts the commits of others on this file; a connection's own show as rows that it changed. Either makes the sum another one.
 */
function openChangeCount(db: Database): () => number {
  const own = db.prepare<[], number>('SELECT total_changes()').pluck()
  return () => (db.pragma('data_version', { simple: true }) as number) + (own.get() ?? 0)
}

export type Tables = ReturnType<typeof openTables>
