import type { AuditEntry, AuditFilter, AuditOutcome, AuditRecord } from '../../safety/audit.ts'
import type { OperatorWrite, OperatorWrites } from './operator-writes.ts'

/** A write of an operator, and the action that the audit log keeps of it. */
export interface Operation<Name extends OperatorWrite = OperatorWrite> {
  write: Name
  args: Parameters<OperatorWrites[Name]>
}

export interface AuditWrites {
  /**
   * Performs an operator's write and appends its audit row in the same commit. A write that rejects
   * leaves a row with the outcome `refused`. See `asOperator`.
   */
  operate<Name extends OperatorWrite>(
    entry: AuditEntry,
    operation: Operation<Name>,
  ): Promise<Awaited<ReturnType<OperatorWrites[Name]>>>
  /** Appends the row of an action outside the store's own writes; returns its id. */
  recordAction(entry: AuditEntry, outcome: AuditOutcome): Promise<string>
}

export interface AuditReads {
  /** Newest first. */
  listActions(query: AuditFilter & { limit: number }): Promise<AuditRecord[]>
}
