import { openSharedTables } from '../tables/open-shared-tables.ts'
import type { Vault } from '../vault.ts'
import type { Connection } from './database/connection.ts'
import { DATABASE_NOW } from './database/direct-session.ts'
import { LogPosition } from './database/log-position.ts'
import { WriteProbe } from './database/write-probe.ts'
import { AdmissionCalls } from './gates/admission-calls.ts'
import { ServerRoomView, ServerStateView } from './health/server-room-view.ts'
import { DeliverySaves } from './incoming/delivery-queue.ts'
import { EventTable } from './incoming/event-table.ts'
import { Claims } from './runs/claims.ts'
import { JournalSaves } from './runs/journal-queue.ts'
import { WorkerTable } from './runs/worker-table.ts'
import { WriteBegins } from './safety/begin-writes.ts'
import { EventSearcher } from './search/event-searcher.ts'
import { BodyPruning } from './upkeep/body-pruning.ts'
import { WeekTable } from './upkeep/week-table.ts'

export function openTables(db: Connection, vault: Vault) {
  const events = new EventTable(db)
  const weeks = new WeekTable(db)
  const bodies = new BodyPruning(db, { weeks })
  const shared = openSharedTables(db, vault, { events, weeks, bodies })
  return {
    ...shared,
    /** Takes part in every transaction. */
    parts: shared.gates,
    events,
    weeks,
    claims: new Claims(db, { reader: shared.claimReader }),
    serverRoom: new ServerRoomView(db, { weeks }),
    workers: new WorkerTable(db, shared),
    arrivals: new DeliverySaves(db),
    clock: db.pluck<[], number>(`SELECT ${DATABASE_NOW}`),
    eventSearch: new EventSearcher(db),
    journal: new JournalSaves(db, { reader: shared.claimReader }),
    admissionCalls: new AdmissionCalls(db),
    writeBegins: new WriteBegins(db),
    logPosition: new LogPosition(db),
    serverState: new ServerStateView(db),
    writeProbe: new WriteProbe(db),
  }
}

export type Tables = ReturnType<typeof openTables>
