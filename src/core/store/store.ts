import type { DeliveryReads, DeliveryWrites } from './deliveries.ts'
import type { EndpointReads, EndpointWrites } from './endpoints.ts'
import type { EventReads, EventWrites } from './events.ts'
import type { JournalReads, JournalWrites } from './journal.ts'
import type { LimitReads, LimitWrites } from './limits.ts'
import type { MatchReads, MatchWrites } from './matches.ts'
import type { OperationWrites } from './operations.ts'
import type { RetentionWrites } from './retention.ts'
import type { RunReads, RunWrites } from './runs.ts'
import type { ScheduleReads, ScheduleWrites } from './schedules.ts'
import type { WorkerReads, WorkerWrites } from './workers.ts'
import type { WorkflowReads, WorkflowWrites } from './workflows.ts'

/**
 * Every write of the store. Writes take effect in the order of their calls; a promise resolves
 * after its commit. A write that carries a lease is refused with `stale_lease` when another worker,
 * or a person, has the run now. A store that cannot write rejects with `store_unavailable`.
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
    OperationWrites,
    RetentionWrites,
    LimitWrites {
  /**
   * Writes, so that `/readyz` knows that writing works. `isMigrated`: the schema is the one that
   * this Upshot knows.
   */
  checkWritable(now: number): Promise<{ isMigrated: boolean }>
}

/**
 * Every read of the store: what the command line and the admin API see, and stages that only read.
 */
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
    LimitReads {
  /**
   * Another number than before when this or another process has written since. Costs next to
   * nothing.
   */
  changeCount(): Promise<number>
}

/**
 * The one place where anything lasts. Every moment is a parameter, in epoch milliseconds; the store
 * reads no clock.
 */
export interface Store extends ReadStore, StoreWrites {
  close(): Promise<void>
}
