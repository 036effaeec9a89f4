import { planRuns } from '../../../core/incoming/route.ts'
import { findObstacle } from '../../../core/runs/run.ts'
import {
  type BulkCount,
  type BulkOperation,
  type BulkRefusal,
  findReplayObstacle,
  MAX_REFUSALS,
  type ReplayPlan,
  type RunBulkPlan,
} from '../../../core/safety/bulk.ts'
import { JoinedTable } from '../../connection.ts'
import type { Events } from '../incoming/events.ts'
import type { ReplayTable } from '../runs/replay-table.ts'
import type { RunOperations } from '../runs/run-operations.ts'
import type { RunTable } from '../runs/run-table.ts'
import type { AuditTable } from '../safety/audit-table.ts'
import type { WaitTable } from '../waits/wait-table.ts'
import type { BulkTable } from './bulk-table.ts'

/** A stretch of an operation's runs or events, between two positions of its search. */
interface BulkSlice {
  id: string
  /** The process that works on it. */
  owner: string
  /** Position of the operation; null at its beginning. */
  after: string | null
  /** Position behind the slice; null: nothing is left. */
  next: string | null
}

interface BulkProgress {
  done: number
  refused: number
  isOver: boolean
}

interface BulkParts {
  bulks: BulkTable
  audits: AuditTable
  events: Events
  runs: RunTable
  waits: WaitTable
  operations: RunOperations
  replays: ReplayTable
}

/** The id of a run or an event, and why the operation did not fit it; null: it is done. */
interface Performed {
  target: string
  why: string | null
}

/**
 * Slices of operations on many runs or events. One commit holds the changes of a slice, their audit
 * rows, counts and cursor. So a crash neither repeats nor skips one.
 */
export class BulkSlices extends JoinedTable<BulkParts> {
  /** Saves the count up to `next`; null when the operation is no longer this process's, or over. */
  async countBulk({ id, owner, after, next }: BulkSlice, count: BulkCount, now: number): Promise<BulkOperation | null> {
    const { bulks } = this.parts
    const before = await bulks.findBulk(id)
    if (before === null) return null
    const isOver = next === null && count.total === 0
    const status = next !== null ? 'counting' : isOver ? 'done' : 'running'
    const endedAt = isOver ? now : null
    if (!(await bulks.move({ id, owner, was: 'counting', status, after, next, count, now, endedAt }))) return null
    if (isOver) await this.#recordEnd({ ...before, done: 0, refused: 0 }, now)
    return bulks.findBulk(id)
  }

  /**
   * Performs a slice with its audit rows, counts and cursor in one commit. Null, and nothing is
   * done, when the operation is no longer this process's, or over. `targets`: ids of runs, or
   * numbers of events.
   */
  async performBulk(slice: BulkSlice & { targets: readonly string[] }, now: number): Promise<BulkProgress | null> {
    const { bulks } = this.parts
    const { id, owner, after, next } = slice
    const before = await bulks.findBulk(id)
    if (before === null) return null
    const endedAt = next === null ? now : null
    const move = { id, owner, was: 'running', after, next, count: before.count, now, endedAt } as const
    // The compare-and-set comes first: without the cursor nothing may be done.
    if (!(await bulks.move({ ...move, status: next === null ? 'done' : 'running' }))) return null
    if (before.kind !== 'replay') await this.parts.runs.lockTrees(slice.targets)
    const refusals: BulkRefusal[] = []
    for (const given of slice.targets) {
      const { target, why } =
        before.kind === 'replay'
          ? await this.#replay(before, Number(given), now)
          : await this.#operate(before, given, now)
      if (why !== null) refusals.push({ target, why })
    }
    const progress = { done: slice.targets.length - refusals.length, refused: refusals.length }
    for (const [index, refusal] of refusals.slice(0, MAX_REFUSALS).entries())
      await bulks.refuse({ ...refusal, id, number: index + 1 })
    await bulks.add({ id, ...progress })
    if (next === null) {
      await this.#recordEnd(
        { ...before, done: before.done + progress.done, refused: before.refused + progress.refused },
        now,
      )
    }
    return { ...progress, isOver: next === null }
  }

  async #operate(plan: RunBulkPlan, run: string, now: number): Promise<Performed> {
    const found = await this.parts.runs.findRun(run)
    const obstacle = found === null ? 'it is gone' : findObstacle(plan.kind, found, now)
    const isDone = obstacle === null && (await this.#perform(plan, run, now))
    const action = { action: `run.${plan.kind}`, target: run, parameters: { operation: plan.id } }
    await this.parts.audits.recordAction({ ...plan.operator, ...action, at: now }, isDone ? 'done' : 'unchanged')
    return { target: run, why: isDone ? null : (obstacle ?? 'its state has changed') }
  }

  async #perform({ kind, operator }: RunBulkPlan, run: string, now: number): Promise<boolean> {
    const { waits, operations } = this.parts
    switch (kind) {
      case 'cancel':
        return (await waits.cancel(run, operator.reason ?? 'canceled by hand', now)).length > 0
      case 'retry':
        return operations.retryRun(run, now)
      case 'resume':
      case 'restart':
        return operations.resumeRun(run, { fromScratch: kind === 'restart' })
      case 'resolve':
        return operations.resolveRun(run, { by: operator.actor, at: now, reason: operator.reason ?? '' })
      case 'unresolve':
        return operations.unresolveRun(run)
      default:
        return kind satisfies never
    }
  }

  async #replay(plan: ReplayPlan, seq: number, now: number): Promise<Performed> {
    const { events, replays, audits } = this.parts
    const event = await events.find(seq)
    if (event === null) return { target: `event number ${seq}`, why: 'it is gone' }
    const { id, account } = event
    const why = findReplayObstacle(event)
    const workflows = planRuns(event.type, plan.routes)
    if (why === null) await replays.replayStored(event, workflows, now)
    const action = { action: 'event.replay', target: id, parameters: { operation: plan.id, account, workflows } }
    await audits.recordAction({ ...plan.operator, ...action, at: now }, why === null ? 'done' : 'unchanged')
    return { target: id, why }
  }

  async #recordEnd({ id, operator, done, refused }: BulkOperation, at: number): Promise<void> {
    const action = { action: 'operation.end', target: id, parameters: { done, refused } }
    await this.parts.audits.recordAction({ ...operator, ...action, at }, 'done')
  }
}
