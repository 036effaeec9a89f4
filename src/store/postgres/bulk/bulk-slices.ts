import { findObstacle } from '../../../core/runs/run.ts'
import { type BulkCount, type BulkKind, type BulkOperation, MAX_REFUSALS } from '../../../core/safety/bulk.ts'
import type { BulkProgress, BulkSlice } from '../../../core/store/operations.ts'
import type { RunOperations } from '../runs/run-operations.ts'
import type { RunTable } from '../runs/run-table.ts'
import type { AuditTable } from '../safety/audit-table.ts'
import type { WaitTable } from '../waits/wait-table.ts'
import type { BulkTable } from './bulk-table.ts'

interface BulkParts {
  bulks: BulkTable
  runs: RunTable
  waits: WaitTable
  operations: RunOperations
  audits: AuditTable
}

/**
 * Slices of operations on many runs. One commit holds the runs of a slice, their audit rows, counts
 * and cursor. So a crash neither repeats nor skips a run.
 */
export class BulkSlices {
  readonly #parts: BulkParts

  constructor(parts: BulkParts) {
    this.#parts = parts
  }

  /** Adds to the count; after the last slice the operation runs, or a dry run is done. */
  async count({ id, owner, after, next }: BulkSlice, count: BulkCount, now: number): Promise<BulkOperation | null> {
    const { bulks } = this.#parts
    const before = await bulks.find(id)
    if (before === null) return null
    const isOver = next === null && (before.isDryRun || count.total === 0)
    const status = next !== null ? 'counting' : isOver ? 'done' : 'running'
    const endedAt = isOver ? now : null
    if (!(await bulks.move({ id, owner, was: 'counting', status, after, next, count, now, endedAt }))) return null
    if (isOver) await this.#recordEnd({ ...before, done: 0, refused: 0 }, now)
    return await bulks.find(id)
  }

  /** Performs the operation on each run of the slice that it still fits. */
  async perform(slice: BulkSlice & { runs: readonly string[] }, now: number): Promise<BulkProgress | null> {
    const { bulks, runs } = this.#parts
    const { id, owner, after, next } = slice
    const before = await bulks.find(id)
    if (before === null) return null
    const endedAt = next === null ? now : null
    const move = { id, owner, was: 'running', after, next, count: before.count, now, endedAt } as const
    // The compare-and-set comes first: without the cursor nothing may be done.
    if (!(await bulks.move({ ...move, status: next === null ? 'done' : 'running' }))) return null
    const refusals: { run: string; why: string }[] = []
    for (const run of slice.runs) {
      const found = await runs.find(run)
      const obstacle = found === null ? 'it is gone' : findObstacle(before.kind, found, now)
      const isDone = obstacle === null && (await this.#performOn(before.kind, run, before, now))
      if (!isDone) refusals.push({ run, why: obstacle ?? 'its state has changed' })
      await this.#record(before, run, isDone ? 'done' : 'unchanged', now)
    }
    const progress = { done: slice.runs.length - refusals.length, refused: refusals.length }
    for (const [index, refusal] of refusals.slice(0, MAX_REFUSALS).entries()) await bulks.refuse(id, refusal, index + 1)
    await bulks.add(id, progress)
    if (next === null) {
      await this.#recordEnd(
        { ...before, done: before.done + progress.done, refused: before.refused + progress.refused },
        now,
      )
    }
    return { ...progress, isOver: next === null }
  }

  async #performOn(kind: BulkKind, run: string, { operator }: BulkOperation, now: number): Promise<boolean> {
    const { waits, operations } = this.#parts
    switch (kind) {
      case 'cancel':
        return (await waits.cancel(run, operator.reason ?? 'canceled by hand', now)).length > 0
      case 'retry':
        return await operations.retry(run, now)
      case 'resume':
        return await operations.resume(run, { fromScratch: false })
      default:
        return kind satisfies never
    }
  }

  async #record(
    { id, kind, operator }: BulkOperation,
    run: string,
    outcome: 'done' | 'unchanged',
    at: number,
  ): Promise<void> {
    const action = { action: `run.${kind}`, target: run, parameters: { operation: id } }
    await this.#parts.audits.add({ ...operator, ...action, at }, outcome)
  }

  async #recordEnd({ id, operator, done, refused }: BulkOperation, at: number): Promise<void> {
    const action = { action: 'operation.end', target: id, parameters: { done, refused } }
    await this.#parts.audits.add({ ...operator, ...action, at }, 'done')
  }
}
