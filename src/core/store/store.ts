import type { TableReads } from '../../store/reads.ts'
import type { Transactions } from '../../store/transactions.ts'
import type { DeliveryReceipt, IncomingDelivery } from '../incoming/delivery.ts'
import type { Endpoint } from '../incoming/endpoint.ts'
import type { Route } from '../incoming/route.ts'
import type { ClaimedRun } from '../runs/claim.ts'
import type { PackedOutput } from '../runs/step.ts'
import type { AuditEntry } from '../safety/audit.ts'
import type { Clock } from '../time.ts'
import type { SubjectBatch } from './events.ts'
import type { Operation, OperatorWrite, OperatorWrites } from './operator-writes.ts'
import type { PruneBounds, PrunedWeek } from './retention.ts'
import type { ServerRoom, ServerState } from './server.ts'

// The types of most calls are those of the tables that answer them, in `store/`. Nothing else of
// it is used here.

/**
 * Saves a delivery, its event if new, and its runs in one commit. The store implements it, and so
 * does a worker beside the receiver, which claims the runs in that commit.
 */
export interface DeliveryIntake {
  /**
   * Resolves after the commit. An event counts once per account, whichever endpoint received it.
   * Rejects with `stale_plan` when endpoints or routes have changed since `setup` was read.
   */
  saveDelivery(delivery: IncomingDelivery): Promise<DeliveryReceipt>
}

/**
 * Every write of the store. Writes about one run take effect in the order of their calls. A claim
 * sees every write that was answered before. A promise resolves after its commit.
 *
 * A write whose lease is outdated is refused with `stale_lease`. A write that is not known to be
 * made rejects with `store_unavailable`.
 */
export interface StoreWrites extends Transactions, DeliveryIntake {
  /**
   * Writes a row, so that `/readyz` knows that writing works. Fails at once where it does not.
   * `isMigrated` is false once a newer Upshot has changed the schema.
   */
  checkWritable(now: number): Promise<{ isMigrated: boolean }>
  /**
   * Claims up to `limit` due runs for `worker`: those that waited first, then by priority and age.
   * Where those that waited would fill claim after claim, every fourth one begins with the others.
   */
  claimRuns(worker: string, limit: number, now: number): Promise<ClaimedRun[]>
  /**
   * Claims up to `limit` suspects: runs that may have ended their workers. The other claims leave
   * them out.
   */
  claimSuspects(worker: string, limit: number, now: number): Promise<ClaimedRun[]>
  /**
   * Claims limited runs that are not admitted yet, oldest first. They need no slot, because most
   * only join a line.
   */
  claimUnadmittedRuns(worker: string, limit: number, now: number): Promise<ClaimedRun[]>
  /**
   * Performs an operator's write and appends its audit row in the same commit. A write that rejects
   * leaves a row with the outcome `refused`. See `asOperator`.
   */
  operate<Name extends OperatorWrite>(
    entry: AuditEntry,
    operation: Operation<Name>,
  ): Promise<Awaited<ReturnType<OperatorWrites[Name]>>>
  /**
   * Removes the oldest week of runs, deliveries or bodies once all of it is older than the bounds.
   * Null: none is left, or the store keeps no weeks. `prune` removes what stays of it.
   */
  pruneWeek(bounds: PruneBounds, now: number): Promise<PrunedWeek | null>
  /** Does nothing where another process has saved the batch. */
  saveSubjects(batch: SubjectBatch): Promise<void>
}

/** Every read of the store, for the command line, the admin server, and stages that only read. */
export interface ReadStore extends TableReads {
  /**
   * Rises with each change of an endpoint, a workflow or a route. Read it before them: a delivery
   * that names it is then never accepted by rules of before a change.
   */
  readSetupVersion(): Promise<number>
  /** By the last part of its URL. `at`: as it was at this version of the set-up, or later. */
  findEndpoint(path: string, at?: number): Promise<Endpoint | null>
  /** Oldest first, without removed ones. `at`: as in {@link findEndpoint}. */
  listEndpoints(at?: number): Promise<Endpoint[]>
  /**
   * Event types and the workflows that they start; null until a process has loaded workflows.
   * Cached until they change. `at`: as they were at this version of the set-up, or later.
   */
  listRoutes(at?: number): Promise<readonly Route[] | null>
  /** Compresses JSON text that is too large for a row; writes nothing. */
  packOutput(json: string): Promise<PackedOutput>
  /** The subjects of up to `limit` events that are not indexed; null where all are. */
  readSubjects(limit: number): Promise<SubjectBatch | null>
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
