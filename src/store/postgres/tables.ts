import { ApprovalProofs } from '../tables/approvals/approval-proofs.ts'
import { ApprovalSearch } from '../tables/approvals/approval-search.ts'
import { ApprovalTable } from '../tables/approvals/approval-table.ts'
import { ApproverTable } from '../tables/approvals/approver-table.ts'
import { VoteTable } from '../tables/approvals/vote-table.ts'
import { WithdrawalTable } from '../tables/approvals/withdrawal-table.ts'
import { BulkSlices } from '../tables/bulk/bulk-slices.ts'
import { BulkTable } from '../tables/bulk/bulk-table.ts'
import { GateTable } from '../tables/gates/gate-table.ts'
import { AlertTable } from '../tables/health/alert-table.ts'
import { HourTable } from '../tables/health/hour-table.ts'
import { ProcessTable } from '../tables/health/process-table.ts'
import { ShadowTable } from '../tables/health/shadow-table.ts'
import { ShapeTable } from '../tables/health/shape-table.ts'
import { SweepTable } from '../tables/health/sweep-table.ts'
import { AccountTable } from '../tables/incoming/account-table.ts'
import { CaptureTable } from '../tables/incoming/capture-table.ts'
import { DeliveryLedger } from '../tables/incoming/delivery-ledger.ts'
import { EndpointTable } from '../tables/incoming/endpoint-table.ts'
import { OwnEvents } from '../tables/incoming/own-events.ts'
import { RefusalTable } from '../tables/incoming/refusal-table.ts'
import { UnmatchedTallyTable } from '../tables/incoming/unmatched-tally.ts'
import { Admission } from '../tables/limits/admission.ts'
import { ApprovalDecisions } from '../tables/limits/approval-decisions.ts'
import { KeyLimitTable } from '../tables/limits/key-limit-table.ts'
import { Permits } from '../tables/limits/permits.ts'
import { ClaimReader } from '../tables/runs/claim-reader.ts'
import { FailureStateTable } from '../tables/runs/failure-state-table.ts'
import { RunLogTable } from '../tables/runs/run-log-table.ts'
import { RunOperations } from '../tables/runs/run-operations.ts'
import { RunTable } from '../tables/runs/run-table.ts'
import { StepTable } from '../tables/runs/step-table.ts'
import { TickTable } from '../tables/runs/tick-table.ts'
import { WorkflowTable } from '../tables/runs/workflow-table.ts'
import { AccessTable } from '../tables/safety/access-table.ts'
import { AuditTable } from '../tables/safety/audit-table.ts'
import { EffectSearch } from '../tables/safety/effect-search.ts'
import { EffectTable } from '../tables/safety/effect-table.ts'
import { GuardTable } from '../tables/safety/guard-table.ts'
import { IdempotencyTable } from '../tables/safety/idempotency-table.ts'
import { ReservedTable } from '../tables/safety/reserved-table.ts'
import { SealTable } from '../tables/safety/seal-table.ts'
import { StopTable } from '../tables/safety/stop-table.ts'
import { RunSearch } from '../tables/search/run-search.ts'
import { ApprovalWaits } from '../tables/waits/approval-waits.ts'
import { MatchCursorTable } from '../tables/waits/match-cursor-table.ts'
import { WaitTable } from '../tables/waits/wait-table.ts'
import type { Vault } from '../vault.ts'
import type { Connection } from './database/connection.ts'
import { DATABASE_NOW } from './database/direct-session.ts'
import { LogPosition } from './database/log-position.ts'
import { WriteProbe } from './database/write-probe.ts'
import { AdmissionCalls } from './gates/admission-calls.ts'
import { ServerRoomView } from './health/server-room-view.ts'
import { ServerStateView } from './health/server-state-view.ts'
import { DeliverySaves } from './incoming/delivery-queue.ts'
import { EventTable } from './incoming/event-table.ts'
import { Claims } from './runs/claims.ts'
import { JournalSaves } from './runs/journal-queue.ts'
import { LimitedEnds } from './runs/limited-ends.ts'
import { OutputTable } from './runs/output-table.ts'
import { WorkerTable } from './runs/worker-table.ts'
import { WriteBegins } from './safety/begin-writes.ts'
import { EventSearcher } from './search/event-searcher.ts'
import { PruneCounts } from './upkeep/prune-counts.ts'
import { Pruning } from './upkeep/pruning.ts'
import { WeekTable } from './upkeep/week-table.ts'

/** All tables on one connection. */
export function openTables(db: Connection, vault: Vault) {
  const events = new EventTable(db)
  const ticks = new TickTable(db)
  const gates = new GateTable(db)
  const workflows = new WorkflowTable(db, gates)
  const runs = new RunTable(db, { events, ticks, gates })
  const steps = new StepTable(db)
  const cursors = new MatchCursorTable(db, events)
  const ownEvents = new OwnEvents(db, events, () => workflows.routes())
  const words = openApprovals(db, vault, ownEvents)
  const { approvals } = words
  const guard = new GuardTable(db)
  const effects = new EffectTable(db, guard)
  const reserved = new ReservedTable(db, guard)
  const effectSearch = new EffectSearch(db)
  const seals = new SealTable(db, vault, effectSearch)
  const stops = new StopTable(db)
  const withdrawals = new WithdrawalTable(db, { approvals, stops })
  const approvalWaits = new ApprovalWaits(db, (run) => runs.wake(run))
  const waits = new WaitTable(db, { runs, events, cursors, approvals, approvalWaits, reserved, withdrawals, ownEvents })
  const audits = new AuditTable(db)
  const operations = new RunOperations(db, { events, runs, steps, withdrawals })
  const bulks = new BulkTable(db)
  const claimReader = new ClaimReader(db, { events, ticks })
  const weeks = new WeekTable(db)
  return {
    ...openPlainTables(db, vault),
    /** Takes part in every transaction. */
    parts: gates,
    events,
    ticks,
    workflows,
    runs,
    claims: new Claims(db, claimReader),
    claimReader,
    runSearch: new RunSearch(db, events),
    steps,
    operations,
    bulks,
    bulkSlices: new BulkSlices({ bulks, events, runs, waits, operations, audits }),
    retention: new Pruning(db, { audits, effects, seals, weeks }),
    pruneCounts: new PruneCounts(db, { seals, weeks }),
    weeks,
    serverRoom: new ServerRoomView(db, weeks),
    gates,
    admissions: new Admission(db, { gates, runs, waits }),
    ledger: new DeliveryLedger(db, events),
    cursors,
    approvalWaits,
    waits,
    audits,
    sweeps: new SweepTable(db, { approvals, ownEvents }),
    ...words,
    effectSearch,
    decisions: new ApprovalDecisions({ ...words, effects, stops, approvalWaits, withdrawals }),
    ...{ effects, guard, stops, seals },
    permits: new Permits({
      ...{ ...words, approvalWaits, effects, guard, reserved, runs, steps, stops, waits },
    }),
    workers: new WorkerTable(db, gates),
  }
}

/** Approvals, and the words of people about them. */
function openApprovals(db: Connection, vault: Vault, ownEvents: OwnEvents) {
  const approvals = new ApprovalTable(db, ownEvents)
  const approvalSearch = new ApprovalSearch(db)
  const approvers = new ApproverTable(db, vault)
  const votes = new VoteTable(db)
  const proofs = new ApprovalProofs({ approvals, approvalSearch, approvers, votes })
  return { approvals, approvalSearch, approvers, votes, proofs }
}

/** The tables that need no other. */
function openPlainTables(db: Connection, vault: Vault) {
  return {
    access: new AccessTable(db),
    accounts: new AccountTable(db, vault),
    alerts: new AlertTable(db),
    shadows: new ShadowTable(db),
    shapes: new ShapeTable(db),
    arrivals: new DeliverySaves(db),
    captures: new CaptureTable(db, vault),
    clock: db.prepare<[], number>(`SELECT ${DATABASE_NOW}`).pluck(),
    refusals: new RefusalTable(db),
    endpoints: new EndpointTable(db, vault),
    eventSearch: new EventSearcher(db),
    failureStates: new FailureStateTable(db),
    hours: new HourTable(db),
    journal: new JournalSaves(db),
    limitedEnds: new LimitedEnds(db),
    admissionCalls: new AdmissionCalls(db),
    writeBegins: new WriteBegins(db),
    keptAnswers: new IdempotencyTable(db),
    limits: new KeyLimitTable(db),
    logPosition: new LogPosition(db),
    outputs: new OutputTable(db),
    processes: new ProcessTable(db),
    runLogs: new RunLogTable(db),
    serverState: new ServerStateView(db),
    unmatched: new UnmatchedTallyTable(db),
    writeProbe: new WriteProbe(db),
    setupVersion: db
      .prepare<[], number>(
        'SELECT endpoint_version.version + workflow_version.version FROM endpoint_version, workflow_version',
      )
      .pluck(),
  }
}

export type Tables = ReturnType<typeof openTables>
