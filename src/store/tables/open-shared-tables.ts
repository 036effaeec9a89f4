import type { Connection } from '../connection.ts'
import type { Vault } from '../vault.ts'
import { ApprovalProofs } from './approvals/approval-proofs.ts'
import { ApprovalSearch } from './approvals/approval-search.ts'
import { ApprovalTable } from './approvals/approval-table.ts'
import { ApproverTable } from './approvals/approver-table.ts'
import { VoteTable } from './approvals/vote-table.ts'
import { WithdrawalTable } from './approvals/withdrawal-table.ts'
import { BulkSlices } from './bulk/bulk-slices.ts'
import { BulkTable } from './bulk/bulk-table.ts'
import { GateTable } from './gates/gate-table.ts'
import { BookTable } from './health/book-table.ts'
import { FindingTable } from './health/finding-table.ts'
import { HourTable } from './health/hour-table.ts'
import { ProcessTable } from './health/process-table.ts'
import { SweepTable } from './health/sweep-table.ts'
import { AccountTable } from './incoming/account-table.ts'
import { CaptureTable } from './incoming/capture-table.ts'
import { DeliveryLedger } from './incoming/delivery-ledger.ts'
import { EndpointTable } from './incoming/endpoint-table.ts'
import type { Events } from './incoming/events.ts'
import { OwnEvents } from './incoming/own-events.ts'
import { RefusalTable } from './incoming/refusal-table.ts'
import { SETUP_VERSION } from './incoming/setup-cache.ts'
import { UnmatchedTallyTable } from './incoming/unmatched-tally.ts'
import { Admission } from './limits/admission.ts'
import { ApprovalDecisions } from './limits/approval-decisions.ts'
import { Permits } from './limits/permits.ts'
import { AnnotationTable, RunLogTable } from './runs/annotation-table.ts'
import { ClaimReader } from './runs/claim-reader.ts'
import { ClosingTable } from './runs/closing-table.ts'
import { DefinitionTable } from './runs/definition-table.ts'
import { FailureStateTable } from './runs/failure-state-table.ts'
import { OutputTable } from './runs/output-table.ts'
import { ReplayTable } from './runs/replay-table.ts'
import { RunOperations } from './runs/run-operations.ts'
import { RunTable } from './runs/run-table.ts'
import { StepTable } from './runs/step-table.ts'
import { WorkflowTable } from './runs/workflow-table.ts'
import { AccessTable } from './safety/access-table.ts'
import { AuditTable } from './safety/audit-table.ts'
import { EffectSearch } from './safety/effect-search.ts'
import { EffectTable } from './safety/effect-table.ts'
import { GuardTable } from './safety/guard-table.ts'
import { IdempotencyTable } from './safety/idempotency-table.ts'
import { ReservedTable } from './safety/reserved-table.ts'
import { SealTable } from './safety/seal-table.ts'
import { StopTable } from './safety/stop-table.ts'
import { ScheduleTable } from './schedules/schedule-table.ts'
import { TickTable } from './schedules/tick-table.ts'
import { RunSearch } from './search/run-search.ts'
import { PruneCounts } from './upkeep/prune-counts.ts'
import { type PruneDriver, Pruning } from './upkeep/pruning.ts'
import { TextErasures } from './upkeep/text-erasures.ts'
import { TextSearch } from './upkeep/text-search.ts'
import { ApprovalWaits } from './waits/approval-waits.ts'
import { HookTable } from './waits/hook-table.ts'
import { MatchCursorTable } from './waits/match-cursor-table.ts'
import { WaitTable } from './waits/wait-table.ts'

/** The tables that both databases have in the same shape, on one connection. */
export function openSharedTables(
  db: Connection,
  vault: Vault,
  { events, ...driver }: PruneDriver & { events: Events },
) {
  const schedules = new ScheduleTable(db)
  const ticks = new TickTable(db, { schedules })
  const gates = new GateTable(db)
  const workflows = new WorkflowTable(db, { schedules, definitions: new DefinitionTable(db) })
  const annotations = new AnnotationTable(db)
  const runs = new RunTable(db, { events, ticks, gates, annotations })
  const steps = new StepTable(db)
  const cursors = new MatchCursorTable(db, { events })
  const ownEvents = new OwnEvents(db, { events, routes: () => workflows.routes() })
  const words = openApprovals(db, vault, ownEvents)
  const { approvals } = words
  const ledger = openLedger(db, vault)
  const { guard, effects, reserved, effectSearch, seals, stops } = ledger
  const textSearch = new TextSearch(db)
  const withdrawals = new WithdrawalTable(db, { approvals, stops })
  const approvalWaits = new ApprovalWaits(db, { wake: (run) => runs.wake(run), lock: (ids) => runs.lockAll(ids) })
  const hooks = new HookTable(db, { vault, runs, ownEvents })
  const closings = new ClosingTable(db)
  const asked = { approvals, approvalWaits, reserved, withdrawals, hooks }
  const waits = new WaitTable(db, { runs, events, cursors, closings, ownEvents, schedules, ...asked })
  const audits = new AuditTable(db)
  const operations = new RunOperations(db, { runs, steps, annotations, withdrawals, closings })
  const replays = new ReplayTable(db, { events })
  const bulks = new BulkTable(db)
  const findings = new FindingTable(db, { approvals, ownEvents })
  return {
    ...openPlainTables(db, vault),
    ...words,
    ...ledger,
    events,
    schedules,
    ticks,
    ownEvents,
    gates,
    workflows,
    runs,
    steps,
    annotations,
    cursors,
    operations,
    approvalWaits,
    hooks,
    waits,
    audits,
    bulks,
    replays,
    textSearch,
    textErasures: new TextErasures(db, { textSearch, seals, effects, effectSearch }),
    claimReader: new ClaimReader(db, { ticks }),
    retention: new Pruning(db, { audits, bulks, effects, seals, ...driver }),
    pruneCounts: new PruneCounts(db, { bulks, seals, ...driver }),
    runSearch: new RunSearch(db, { events, annotations }),
    bulkSlices: new BulkSlices(db, { bulks, events, runs, waits, operations, replays, audits }),
    admissions: new Admission(db, { gates, runs, annotations, waits }),
    ledger: new DeliveryLedger(db, { events }),
    findings,
    sweeps: new SweepTable(db, { findings }),
    decisions: new ApprovalDecisions(db, { ...words, effects, stops, approvalWaits, withdrawals }),
    permits: new Permits(db, { ...words, approvalWaits, effects, guard, reserved, runs, steps, stops, waits }),
  }
}

/** Approvals, and the words of people about them. */
function openApprovals(db: Connection, vault: Vault, ownEvents: OwnEvents) {
  const approvals = new ApprovalTable(db, { ownEvents })
  const approvalSearch = new ApprovalSearch(db)
  const approvers = new ApproverTable(db, { vault })
  const votes = new VoteTable(db)
  const proofs = new ApprovalProofs(db, { approvals, approvalSearch, approvers, votes })
  return { approvals, approvalSearch, approvers, votes, proofs }
}

/** Effects, what limits or stops them, and the seals over their rows. */
function openLedger(db: Connection, vault: Vault) {
  const guard = new GuardTable(db)
  const effects = new EffectTable(db, { guard })
  const effectSearch = new EffectSearch(db)
  return {
    guard,
    effects,
    effectSearch,
    reserved: new ReservedTable(db, { guard }),
    seals: new SealTable(db, { vault, effects: effectSearch }),
    stops: new StopTable(db),
  }
}

/** The tables that need no other. */
function openPlainTables(db: Connection, vault: Vault) {
  return {
    access: new AccessTable(db),
    accounts: new AccountTable(db, { vault }),
    books: new BookTable(db),
    captures: new CaptureTable(db, { vault }),
    refusals: new RefusalTable(db),
    endpoints: new EndpointTable(db, { vault }),
    failureStates: new FailureStateTable(db),
    hours: new HourTable(db),
    keptAnswers: new IdempotencyTable(db),
    outputs: new OutputTable(db),
    processes: new ProcessTable(db),
    runLogs: new RunLogTable(db),
    setupVersion: db.pluck<[], number>(SETUP_VERSION),
    unmatched: new UnmatchedTallyTable(db),
  }
}
