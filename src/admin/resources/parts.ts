import type { AuditedAction, AuditOutcome } from '../../core/safety/audit.ts'
import { asOperator } from '../../core/store/as-operator.ts'
import type { OperatorWrites } from '../../core/store/operator-writes.ts'
import type { ListReads, ReadStore, Store } from '../../core/store/store.ts'
import type { Clock } from '../../core/time.ts'
import { type Caller, describeOperator } from '../access/caller.ts'
import type { BulkRunner } from '../operations/bulk-runner.ts'
import type { Health } from '../ports/health.ts'
import type { Surroundings } from '../ports/surroundings.ts'

/**
 * The process's own store, whose writes leave an audit row: one without a row does not compile.
 * Holding and releasing runs carries on an audited action.
 */
export type HandlerStore = ReadStore &
  Pick<Store, 'carryOutDecision' | 'operate' | 'recordAction' | 'holdRuns' | 'releaseHeldRuns'>

/** The app as its resources see it. */
export interface ResourceParts {
  store: HandlerStore
  /** Reads for one list or search, which load the primary of the database as little as they can. */
  openLists: () => Promise<ListReads>
  clock: Clock
  surroundings: Surroundings
  /** Works on operations on many rows. */
  runner: Pick<BulkRunner, 'wake'>
  health: Health
}

/** A request as far as the audit log names it. */
interface Actor {
  caller: Caller
  body?: unknown
}

/** The writes of the caller, each with its audit row in the same commit. */
export function asCaller({ store, clock }: ResourceParts, { caller, body }: Actor): OperatorWrites {
  return asOperator(store, describeOperator(caller, readReason(body)), clock)
}

/** Appends an action whose effect is outside the store's own writes. */
export function recordAction(
  { store, clock }: ResourceParts,
  { caller, body }: Actor,
  action: AuditedAction,
  outcome: AuditOutcome,
): Promise<string> {
  return store.recordAction({ ...describeOperator(caller, readReason(body)), ...action, at: clock.now() }, outcome)
}

function readReason(body: unknown): string | null {
  const reason = typeof body === 'object' && body !== null && 'reason' in body ? body.reason : null
  return typeof reason === 'string' ? reason : null
}
