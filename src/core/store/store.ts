import type { Failure } from '../errors.ts'
import type {
  Capture,
  DeliveryQuery,
  DeliveryReceipt,
  DeliveryRecord,
  IncomingDelivery,
  Refusal,
  RefusalTally,
  RefusedDelivery,
  Verdict,
} from '../incoming/delivery.ts'
import type { Endpoint, EndpointName, SecretUse } from '../incoming/endpoint.ts'
import type { EventRecord } from '../incoming/event.ts'
import type { Route } from '../incoming/route.ts'
import type { AdmissionAnswer, AdmissionPlan } from '../runs/admission.ts'
import type { ClaimedRun } from '../runs/claim.ts'
import type { Lease } from '../runs/lease.ts'
import type { MatchBatch, MatchResult, NumberedEvent, Watch } from '../runs/matching.ts'
import type { Run, RunFilter } from '../runs/run.ts'
import type { DueTick, ScheduleRecord, TickOptions } from '../runs/schedule.ts'
import type { Checkpoint, PackedOutput } from '../runs/step.ts'
import type { Alongside, EventWait } from '../runs/wait.ts'
import type { LoadedWorkflows, WorkflowRecord } from '../runs/workflow-record.ts'
import type { Account } from '../service/account.ts'

/**
 * The one place where anything lasts. Writes take effect in the order of their calls, every promise resolves after the
 * commit, and every moment is given, never read from a clock. A write that carries a lease is refused with `stale_lease` when another worker, or a person, has the
 * run now; a store that cannot write rejects with `store_unavailable`.
 */
export interface Store extends ReadStore {
  /** Delivery, event and its runs in one commit. The event counts once per account, whatever the endpoint. */
  saveDelivery(delivery: IncomingDelivery): Promise<DeliveryReceipt>
  /** A row for a refusal. Of each verdict the newest 10,000 stay; the commit that passes this deletes the oldest. */
  saveRefusal(delivery: RefusedDelivery): Promise<void>
  /** Counts refusals that leave no row, because too many came at once. */
  countRefusals(unlisted: Partial<Record<Refusal, number>>): Promise<void>
  /**
   * Keeps a delivery of an endpoint that learns, within `CAPTURE_LIMITS`. False when the endpoint does not learn any more, or
   * the capture alone is over the limit.
   */
  saveCapture(capture: Capture): Promise<boolean>
  dropCaptures(endpointId: string): Promise<void>
  /** Writes, so that `/readyz` knows that writing works. `isMigrated`: the schema is the one that this Upshot knows. */
  probe(now: number): Promise<{ isMigrated: boolean }>

  /** Refuses a name that is taken with `conflict`. */
  addEndpoint(endpoint: Endpoint): Promise<void>
  /**
   * Changes everything about an endpoint but its id, name, path and age, and raises its revision. Refused with `not_found`
   * where there is none, with `conflict` where it was changed since the given revision was read. One that does
   * not learn any more loses its captures in the same commit.
   */
  updateEndpoint(endpoint: Endpoint): Promise<void>
  /** Ends an endpoint and its secrets for ever; its name is free again, what it received stays. `not_found` where there is none. */
  removeEndpoint(endpoint: Pick<Endpoint, 'id' | 'name'>, now: number): Promise<void>

  /** Adds an account, or changes everything about the one of that name but its age. */
  saveAccount(account: Account): Promise<void>
  /** Refused with `conflict` while an endpoint uses it, with `not_found` where there is none. */
  removeAccount(name: string): Promise<void>

  /** The last recorded moment of a workflow's schedule; the first call for a schedule starts it at `now`. */
  startSchedule(workflow: string, expression: string, now: number): Promise<number>
  /**
   * The tick and its run in one commit; null when it is recorded already, by whomever, or its schedule is paused. Under `overlap`, the
   * run may wait for the tick before it or be skipped from the start.
   */
  recordTick(workflow: string, tick: DueTick, now: number, options?: TickOptions): Promise<string | null>
  /** Stops or goes on making ticks. Moments in between are counted and not caught up with. False when it was so already; `not_found` without a schedule. */
  pauseSchedule(workflow: string, isPaused: boolean, now: number): Promise<boolean>

  /**
   * Makes the author's workflows, their routes and schedules known to every process, in one commit. Those of a file that is broken now
   * stay as they were: their events are kept for when it is mended. Gives whether anything changed.
   */
  saveWorkflows(loaded: LoadedWorkflows, now: number): Promise<boolean>
  /** From now on its runs wait; passes at work go on to their end. False when it was paused already. */
  pauseWorkflow(workflow: string, now: number): Promise<boolean>
  /** Sets `limit` pending runs of a paused workflow aside; gives their number. Claiming does the same with those it meets. */
  holdRuns(workflow: string, limit: number): Promise<number>
  /** Ends the pause. False when there was none. */
  resumeWorkflow(workflow: string): Promise<boolean>
  /** Makes `limit` of the runs that waited for it pending again, oldest first; gives their number. */
  releaseHeldRuns(workflow: string, limit: number): Promise<number>

  /** Makes a worker known; its process holds a lock until it ends, however it ends. */
  startWorker(worker: string, now: number): Promise<void>
  /** Says that a worker is alive. */
  beatWorker(worker: string, now: number): Promise<void>
  /** Takes the runs of dead workers back, to be claimed again; gives their number. */
  recoverRuns(now: number, leaseMs: number): Promise<number>
  /** Hands a worker's runs back and forgets it. */
  stopWorker(worker: string): Promise<void>

  /** Runs that are due, those that waited first, then by priority and age; each now belongs to `worker`. */
  claimRuns(worker: string, limit: number, now: number): Promise<ClaimedRun[]>
  /**
   * Decides whether a run may go on now, waits for its turn, or joins another one, and writes that. Whoever's turn comes
   * when a run ends or waits is let in by the commit that says so.
   */
  admitRun(lease: Lease, plan: AdmissionPlan, now: number): Promise<AdmissionAnswer>
  /** Limited runs that nobody has looked at yet, oldest first; they need no slot, because most are only put in line. */
  claimUnseenRuns(worker: string, limit: number, now: number): Promise<ClaimedRun[]>
  /**
   * Adds a step to the run's journal or brings it up to date, with all that comes `alongside`; `failure`, one attempt that failed,
   * is appended.
   */
  saveCheckpoint(lease: Lease, checkpoint: Checkpoint, failure?: StepFailure, alongside?: Alongside): Promise<void>
  /** Names the events that end the run. False, and the run is canceled, when one of them is known to have come. */
  watchRun(lease: Lease, cancels: readonly EventWait[], now: number): Promise<boolean>
  /** However a run ends, it waits for nothing any more, and the run that invoked it goes on. */
  completeRun(lease: Lease, output: string | PackedOutput, now: number): Promise<void>
  /** `followUp`: starts the workflow's `onFailure` as a run of its own in the same commit, unless this run is such a one itself. */
  failRun(lease: Lease, error: Failure, now: number, followUp?: boolean): Promise<void>
  skipRun(lease: Lease, reason: string, now: number): Promise<void>
  /**
   * The run waits until `dueAt`, or for a person (null). With `awaits`, the keys of steps that wait for an event or a run, it goes
   * on when one of them is resolved, and at once where that has happened already. `hasNotStarted`: its own clock starts with a later pass.
   */
  parkRun(
    lease: Lease,
    park: { dueAt: number | null; reason: string; awaits?: readonly string[]; hasNotStarted?: boolean },
  ): Promise<void>
  /** Its code failed outside a step: counts the attempt and waits until `dueAt`. */
  retryRun(lease: Lease, retry: { dueAt: number; error: Failure }): Promise<void>
  /** Gives the run back unfinished, to be claimed by anyone at once. */
  releaseRun(lease: Lease): Promise<void>
  /**
   * Ends a run that is not finished yet, at once, with the runs that it invoked: whoever works on them can write no more. False
   * when it had finished.
   */
  cancelRun(runId: string, reason: string, now: number): Promise<boolean>

  /** A failed or canceled run goes on from its failed step, with the same id. False when it is in another state. */
  reopenRun(runId: string, now: number): Promise<boolean>
  /** A run that waits for a person goes on; from scratch, it forgets every step. False when it waits for none. */
  resumeRun(runId: string, options: { fromScratch: boolean }, now: number): Promise<boolean>
  /** A new run of the same cause with copies of these finished steps, and perhaps a result of our own for one more. Gives its id. */
  forkRun(runId: string, fork: Fork, now: number): Promise<string>
  /** New runs of an event that is stored, one for each workflow. Gives their ids; `not_found` without the event, `conflict` once its body is pruned. */
  replayEvent(event: { id: string; account: string }, workflows: readonly string[], now: number): Promise<string[]>

  /** Removes what is older than its bound, in one small commit; see {@link PruneSlice}. */
  prune(slice: PruneSlice): Promise<PruneProgress>

  /** Begins to match events for a key, from the oldest wait for it on; for a process whose functions are new. */
  openWatch(watch: Pick<Watch, 'type' | 'name' | 'version'>, now: number): Promise<void>
  /** Keeps the keys of a batch of events, resolves what waited for them, and moves the watches on. */
  saveMatches(batch: MatchBatch, now: number): Promise<MatchResult>
  /**
   * Replaces what {@link ReadStore.loadLimit} gave if nobody has replaced it since; false when somebody has. A key that has
   * nothing yet has version 0.
   */
  saveLimit(key: string, state: string, version: number): Promise<boolean>

  close(): Promise<void>
}

/** What a new run takes over from another one. */
export interface Fork {
  /** Finished steps that it takes over. */
  keys: readonly string[]
  /** A step whose result is given by hand, as JSON text. */
  edited: { key: string; output: string } | null
}

/** What retention removes: finished runs with all that hangs on them, ledger rows, and the bodies of events. */
export const PRUNE_KINDS = ['runs', 'failures', 'refusals', 'deliveries', 'payloads'] as const
export type PruneKind = (typeof PRUNE_KINDS)[number]

/** How old each kind may get, in milliseconds; null: for ever. */
export type Retention = Record<PruneKind, number | null>

export interface PruneSlice {
  kind: PruneKind
  /** Older than this moment. */
  before: number
  /** Rows that are looked at or removed, at most. */
  limit: number
  /** Where the slice before ended; null at first. */
  after: string | null
}

export interface PruneProgress {
  /** Runs, deliveries or bodies that are gone now. */
  pruned: number
  /** Where to go on; null: there is nothing more. */
  next: string | null
}

/** What the CLI and the admin API look at, and every stage that only reads. */
export interface ReadStore {
  findEndpoint(path: string): Promise<Endpoint | null>
  listEndpoints(): Promise<Endpoint[]>
  /** Every endpoint that there ever was, removed ones too; oldest first. */
  listEndpointNames(): Promise<EndpointName[]>
  /** By position. Exact to the minute. */
  listSecretUses(endpointId: string): Promise<SecretUse[]>
  findAccount(name: string): Promise<Account | null>
  /** By name. */
  listAccounts(): Promise<Account[]>
  /** Newest first. */
  listDeliveries(query: DeliveryQuery): Promise<DeliveryRecord[]>
  /** The deliveries that brought this event, the first and the repeated ones; newest first. */
  listDeliveriesOf(event: Pick<EventRecord, 'id' | 'account'>, limit: number): Promise<DeliveryRecord[]>
  /** How many requests an endpoint has met with each verdict since a moment. Reads all of them. */
  countDeliveries(endpointId: string, since: number): Promise<Partial<Record<Verdict, number>>>
  /** A delivery and the event that it brought; null for a refused one, and for an event that is not kept any more. */
  findDelivery(id: string): Promise<{ delivery: DeliveryRecord; event: EventRecord | null } | null>
  /** Every verdict that ever refused something. */
  tallyRefusals(): Promise<RefusalTally[]>
  /** Oldest first. */
  listCaptures(endpointId: string): Promise<Capture[]>
  listEvents(query: EventFilter & { limit: number }): Promise<EventRecord[]>
  /** The events with this id: one for each account that has it. */
  findEvents(id: string): Promise<EventRecord[]>
  /** `account` says whose event `eventId` is; every account's without it. */
  listRuns(query: RunFilter & { limit: number }): Promise<Run[]>
  findRun(id: string): Promise<Run | null>
  /** The run's own event and those of the runs that it has absorbed, in the order in which they came. */
  listRunEvents(runId: string): Promise<EventRecord[]>
  /**
   * The journal of a run in the order in which its steps began. Results of more than `inlineBytes` are left out, with their size
   * instead; those that lie apart always are.
   */
  listSteps(runId: string, inlineBytes?: number): Promise<Checkpoint[]>
  /** JSON text of a step's result, wherever it lies; of the run's own output for null. `not_found` where there is none. */
  readOutput(runId: string, key: string | null): Promise<string>
  /** Compresses JSON text that is too large for a row. Writes nothing. */
  packOutput(json: string): Promise<PackedOutput>
  /** The event that a step waited for; null: none has come so far. */
  findMatch(runId: string, key: string): Promise<EventRecord | null>
  /** The keys that somebody waits for, in any version, and the number of the newest event. */
  listWatches(): Promise<{ watches: Watch[]; newest: number }>
  /** Events numbered after `after` up to `upTo`, of these types (null: of all), in order. */
  listEventsAfter(query: { after: number; upTo: number; types: readonly string[] | null }): Promise<NumberedEvent[]>
  /** The failed attempts of a run's steps, oldest first. */
  listStepFailures(runId: string): Promise<StepFailure[]>
  /** Steps of an account's runs that deleted, or were to delete, one of these targets. */
  listDeletes(account: string, targets: readonly string[]): Promise<Checkpoint[]>
  /** When the next waiting run is due; null when none is. */
  nextDueAt(): Promise<number | null>
  /** The runs that a worker has a valid lease on: what is missing was canceled or taken over. */
  listLeases(worker: string): Promise<{ runId: string; fence: number }[]>

  /** Event types and the workflows that they start; null while no process has loaded any. Cheap: kept until somebody changes it. */
  listRoutes(): Promise<readonly Route[] | null>
  /** By id. */
  listWorkflows(): Promise<WorkflowRecord[]>
  /** By workflow; those whose workflow is gone are not among them. */
  listSchedules(): Promise<ScheduleRecord[]>
  /** Another number than before when somebody, in this or another process, has written since. Costs next to nothing. */
  changeCount(): Promise<number>
  /** What the processes that use an API key have agreed on; `key` is a hash of it. Null when there is nothing yet. */
  loadLimit(key: string): Promise<KeptLimit | null>
}

export interface KeptLimit {
  /** JSON of the Files client's own. */
  state: string
  /** Rises with each change. */
  version: number
}

/** Which events are meant; every part narrows. */
export interface EventFilter {
  type?: string
  /** Received at this moment or later … */
  since?: number
  /** … and before this one. */
  until?: number
  /** Arrived before this one, by its `seq`: where the page before ended. */
  before?: number
}

export interface StepFailure {
  key: string
  attempt: number
  at: number
  error: Failure
}
