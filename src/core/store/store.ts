import type { Clock } from '../time.ts'
import type { DeliveryReads, DeliveryWrites } from './deliveries.ts'
import type { EndpointReads, EndpointWrites } from './endpoints.ts'
import type { EventReads, EventWrites } from './events.ts'
import type { AlertReads, AlertWrites } from './health/alerts.ts'
import type { HourReads, HourWrites } from './health/hours.ts'
import type { ProcessReads, ProcessWrites } from './health/processes.ts'
import type { ServerRoom, ServerState } from './health/server.ts'
import type { ShapeReads, ShapeWrites } from './health/shapes.ts'
import type { SweepReads, SweepWrites } from './health/sweeps.ts'
import type { JournalReads, JournalWrites } from './journal.ts'
import type { LimitReads, LimitWrites } from './limits.ts'
import type { HookReads, HookWrites, MatchReads, MatchWrites } from './matches.ts'
import type { OperationReads, OperationWrites } from './operations.ts'
import type { RetentionReads, RetentionWrites } from './retention.ts'
import type { RunReads, RunWrites } from './runs.ts'
import type { AccessReads, AccessWrites } from './safety/access.ts'
import type { ApprovalReads, ApprovalWrites } from './safety/approvals.ts'
import type { AuditReads, AuditWrites } from './safety/audit.ts'
import type { EffectReads, EffectWrites } from './safety/effects.ts'
import type { SealReads, SealWrites } from './safety/seals.ts'
import type { TextReads, TextWrites } from './safety/texts.ts'
import type { ScheduleReads, ScheduleWrites } from './schedules.ts'
import type { WorkerReads, WorkerWrites } from './workers.ts'
import type { WorkflowReads, WorkflowWrites } from './workflows.ts'

/**
 * Every write of the store. Writes about one run take effect in the order of their calls. A claim
 * sees every write that was answered before. A promise resolves after its commit.
 *
 * A write whose lease is outdated is refused with `stale_lease`. A write that is not known to be
 * made rejects with `store_unavailable`.
 */
export interface StoreWrites
  extends DeliveryWrites,
    EventWrites,
    EndpointWrites,
    WorkflowWrites,
    ScheduleWrites,
    WorkerWrites,
    RunWrites,
    JournalWrites,
    MatchWrites,
    HookWrites,
    OperationWrites,
    RetentionWrites,
    LimitWrites,
    AuditWrites,
    AccessWrites,
    EffectWrites,
    ApprovalWrites,
    SealWrites,
    TextWrites,
    AlertWrites,
    ShapeWrites,
    SweepWrites,
    HourWrites,
    ProcessWrites {
  /** Writes a row, so that `/readyz` knows that writing works. Fails at once where it does not. */
  checkWritable(now: number): Promise<Writable>
}

/** A database that takes writes. */
export interface Writable {
  /** The schema is this version's. */
  isMigrated: boolean
  /** Commits wait for a standby; null where there is none. */
  isReplicated: boolean | null
}

/** Every read of the store, for the command line, the admin server, and stages that only read. */
export interface ReadStore
  extends DeliveryReads,
    EventReads,
    EndpointReads,
    WorkflowReads,
    ScheduleReads,
    WorkerReads,
    RunReads,
    JournalReads,
    MatchReads,
    HookReads,
    LimitReads,
    AuditReads,
    OperationReads,
    RetentionReads,
    AccessReads,
    EffectReads,
    ApprovalReads,
    SealReads,
    TextReads,
    AlertReads,
    ShapeReads,
    SweepReads,
    HourReads,
    ProcessReads {
  /**
   * Calls `onChange` after writes of any process, this one included, until it is stopped. Several
   * writes may be one call, and a call may be lost: it is a hint, beside which callers poll.
   */
  watch(clock: Clock, onChange: () => void): StoreWatch
  /**
   * Epoch milliseconds by the clock that all processes of the database share. Null where that is
   * the clock of the machine.
   */
  readClock(): Promise<number | null>
  /** Facts of the server, for those who watch it. Null for a file. */
  readServerState(): Promise<ServerState | null>
  /** Sizes of its tables, and its weeks. Null for a file. */
  readServerRoom(now: number): Promise<ServerRoom | null>
}

/** Reads of lists and searches, which see every commit that was answered before they began. */
export type ListReads = Pick<ReadStore, (typeof LIST_READS)[number]>

/** The reads that a copy of the database may answer. */
export const LIST_READS = [
  'searchRuns',
  'listRuns',
  'listEventsOf',
  'groupFailures',
  'listFailureStates',
  'searchEvents',
  'listDeliveries',
  'listEndpointNames',
  'searchEffects',
  'pageEffects',
  'listActions',
] as const satisfies readonly (keyof ReadStore)[]

/** Calls that go on until they are stopped. */
export interface StoreWatch {
  stop(): void
}

/**
 * The database behind the port. Every moment is a parameter in epoch milliseconds: the store reads
 * no clock.
 */
export interface Store extends ReadStore, StoreWrites {
  close(): Promise<void>
}
