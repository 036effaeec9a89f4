import { firstId } from '../../../core/ids.ts'
import type { PruneProgress, PruneSlice, WeekKind } from '../../../core/store/retention.ts'
import { type Connection, JoinedTable } from '../../connection.ts'
import { selectAbsorber } from '../../rows/run-sql.ts'
import type { AuditTable } from '../safety/audit-table.ts'
import type { EffectTable } from '../safety/effect-table.ts'
import type { SealTable } from '../safety/seal-table.ts'
import { FilePruning } from './file-pruning.ts'

interface OldRun {
  id: string
  workflow: string
  tickAt: number | null
  schedule: string | null
  foldedInto: string | null
  isOld: number
}

export const FINISHED = { runs: `('completed', 'skipped', 'planned')`, failures: `('failed', 'canceled')` } as const
export const REFUSED = `verdict NOT IN ('accepted', 'duplicate', 'conflict')`

interface PrunedTables extends PruneDriver {
  audits: AuditTable
  effects: EffectTable
  seals: SealTable
}

/** Rows that a read looked at, and those of them that would go. */
export interface Counted {
  read: number
  rows: number
  bytes?: number
}

/** The moments between which the rows of a week lie; null: no bound. */
export interface Week {
  from: number | null
  to: number | null
}

/** The parts that each database prunes, and counts, in its own way. */
export interface PruneDriver {
  weeks: {
    /** The weeks of rows that go at once, oldest first. */
    list(kind: WeekKind): Promise<Week[]>
    measure(kind: WeekKind, weeks: readonly Week[]): Promise<number>
    /** Rows from this moment on go by the week, or not at all. */
    edge(kind: WeekKind): Promise<number>
  }
  /** Bodies that no unfinished run needs. Their events stay, to recognize a repetition. */
  bodies: {
    count(before: number, limit: number): Promise<Counted>
    prune(slice: PruneSlice): Promise<PruneProgress>
  }
}

/**
 * Deletes old rows, one small slice per call, except those of weeks that go at once. See decisions
 * 17 and 80.
 */
export class Pruning extends JoinedTable<PrunedTables> {
  readonly #files = new FilePruning(this.db)
  readonly #runs = prepareRuns(this.db)
  /** Statements on the steps of pruned runs. Index: primary keys; step_failure_run for failures. */
  readonly #rests = {
    add: this.db.prepare('INSERT INTO pruned_run (run_id) VALUES (?) ON CONFLICT DO NOTHING'),
    first: this.db.pluck<[], string>('SELECT run_id FROM pruned_run LIMIT 1'),
    remove: this.db.prepare('DELETE FROM pruned_run WHERE run_id = ?'),
    deleteSteps: this.db.prepare(
      'DELETE FROM step WHERE run_id = @id AND key IN (SELECT key FROM step WHERE run_id = @id LIMIT @limit)',
    ),
    deleteOutputs: this.db.prepare(
      `DELETE FROM large_output
       WHERE run_id = @id AND key IN (SELECT key FROM large_output WHERE run_id = @id LIMIT @limit)`,
    ),
    deleteLog: this.db.prepare(
      `DELETE FROM run_log
       WHERE run_id = @id AND number IN (SELECT number FROM run_log WHERE run_id = @id LIMIT @limit)`,
    ),
    deleteTags: this.db.prepare('DELETE FROM run_tag WHERE run_id = ?'),
    // Index: hook_run, and the primary key of hook_answer.
    deleteAnswers: this.db.prepare(
      `DELETE FROM hook_answer WHERE (hook, event_seq) IN (SELECT hook, event_seq FROM hook_answer
         JOIN hook ON hook.id = hook_answer.hook WHERE run_id = @id LIMIT @limit)`,
    ),
    deleteHooks: this.db.prepare('DELETE FROM hook WHERE run_id = ?'),
    deleteProgress: this.db.prepare('DELETE FROM run_progress WHERE run_id = ?'),
    deleteFailures: this.db.prepare(
      `DELETE FROM step_failure
       WHERE number IN (SELECT number FROM step_failure WHERE run_id = ? LIMIT ?) AND run_id = ?`,
    ),
  }
  readonly #deliveries = prepareDeliveries(this.db)

  /** Removes rows older than the bound, in one small commit. */
  async prune(slice: PruneSlice): Promise<PruneProgress> {
    switch (slice.kind) {
      case 'runs':
      case 'failures':
        return this.#pruneRuns(slice, slice.kind)
      case 'refusals':
      case 'deliveries':
        return this.#pruneDeliveries(slice, slice.kind)
      case 'payloads':
        return this.parts.bodies.prune(slice)
      case 'audit':
        return this.#pruneAudit(slice)
      case 'effects':
        return this.#pruneEffects(slice)
      case 'files':
        return this.#files.prune(slice)
      default:
        return slice.kind satisfies never
    }
  }

  /** Deletes a run before its steps: a retry of a run with half a journal would repeat effects. */
  async #pruneRuns({ before, limit, after }: PruneSlice, kind: 'runs' | 'failures'): Promise<PruneProgress> {
    let rows = await this.#deleteRests(limit)
    let next = after ?? ''
    let pruned = 0
    if (rows >= limit) return { pruned, next }
    const edge = Math.min(before, await this.parts.weeks.edge('runs'))
    const found = await this.#runs.listOld[kind].all(before, next, firstId('run', edge), limit - rows)
    for (const { id, workflow, tickAt, schedule, foldedInto, isOld } of found) {
      next = id
      rows += 1
      // A folded run stays as long as the run that absorbed it, which finds its events by it.
      if (isOld === 1 && (foldedInto === null || (await this.#runs.hasAbsorber.get(foldedInto)) === undefined)) {
        if ((await this.#runs.deleteEnd.run(id)).changes === 0) continue
        await this.#runs.delete.run(id)
        if (tickAt !== null) await this.#runs.deleteTick.run(schedule ?? workflow, tickAt, id)
        await this.#rests.add.run(id)
        pruned += 1
        rows += await this.#deleteRests(limit - rows)
      }
      if (rows >= limit) return { pruned, next }
    }
    return { pruned, next: null }
  }

  /** Deletes steps of pruned runs; returns the number of rows, `limit` if some are left. */
  async #deleteRests(limit: number): Promise<number> {
    let rows = 0
    for (let id = await this.#rests.first.get(); id !== undefined && rows < limit; id = await this.#rests.first.get()) {
      rows += (await this.#rests.deleteSteps.run({ id, limit: limit - rows })).changes
      if (rows < limit) rows += (await this.#rests.deleteOutputs.run({ id, limit: limit - rows })).changes
      if (rows < limit) rows += (await this.#rests.deleteFailures.run(id, limit - rows, id)).changes
      if (rows < limit) rows += (await this.#rests.deleteLog.run({ id, limit: limit - rows })).changes
      if (rows < limit) rows += (await this.#rests.deleteTags.run(id)).changes
      if (rows < limit) rows += (await this.#rests.deleteAnswers.run({ id, limit: limit - rows })).changes
      if (rows < limit) rows += (await this.#rests.deleteProgress.run(id)).changes
      if (rows >= limit) return limit
      rows += (await this.#rests.deleteHooks.run(id)).changes
      await this.#rests.remove.run(id)
      rows += 1
    }
    return rows
  }

  async #pruneDeliveries(
    { before, limit, after }: PruneSlice,
    kind: 'refusals' | 'deliveries',
  ): Promise<PruneProgress> {
    const edge = Math.min(before, await this.parts.weeks.edge('deliveries'))
    const found = await this.#deliveries.listOld[kind].all(after ?? '', firstId('dlv', edge), limit)
    const ofKind = found.filter((row) => row.isOfKind === 1)
    for (const { id, verdict } of ofKind) {
      await this.#deliveries.delete.run(id)
      if (kind === 'refusals') await this.#deliveries.countDropped.run(verdict)
    }
    return { pruned: ofKind.length, next: found.length < limit ? null : (found.at(-1)?.id ?? null) }
  }

  async #pruneAudit({ before, limit }: PruneSlice): Promise<PruneProgress> {
    const pruned = await this.parts.audits.prune(before, limit)
    return { pruned, next: pruned < limit ? null : '' }
  }

  /**
   * Deletes rows that a seal has named as pruned, and otherwise names the next ones. So the chain
   * tells at each moment which rows may be missing, whatever ends the process.
   */
  async #pruneEffects({ before, now = before, limit }: PruneSlice): Promise<PruneProgress> {
    await this.parts.seals.lock()
    const pruned = await this.parts.effects.prune(await this.parts.seals.prunedTo(), limit)
    if (pruned === limit) return { pruned, next: '' }
    const prunedTo = await this.parts.seals.findPrunable(before, limit)
    if (prunedTo === null) return { pruned, next: null }
    await this.parts.seals.append({ kind: 'pruned', at: now, prunedTo })
    await this.parts.effects.note({ at: now, phase: 'noted', operation: 'prune', outcome: `rows up to ${prunedTo}` })
    return { pruned, next: '' }
  }
}

/** Index: primary keys; the list goes from the oldest run on, as our ids sort by time. */
function prepareRuns(db: Connection) {
  const listOld = (statuses: string) =>
    db.prepare<[number, string, string, number], OldRun>(
      `SELECT id, run.workflow, tick_at, schedule, folded_into,
         CASE WHEN status IN ${statuses} AND finished_at < ? THEN 1 ELSE 0 END AS is_old
       FROM run LEFT JOIN outcome ON outcome.run_id = run.id WHERE id > ? AND id < ? ORDER BY id LIMIT ?`,
    )
  return {
    listOld: { runs: listOld(FINISHED.runs), failures: listOld(FINISHED.failures) },
    hasAbsorber: db.pluck<[string], number>(selectAbsorber('?')),
    // A run that a person retries now has no end any more, and stays.
    deleteEnd: db.prepare('DELETE FROM outcome WHERE run_id = ?'),
    delete: db.prepare('DELETE FROM run WHERE id = ?'),
    deleteTick: db.prepare('DELETE FROM tick WHERE schedule = ? AND scheduled_for = ? AND run_id = ?'),
  }
}

/** Index: primary keys. */
function prepareDeliveries(db: Connection) {
  const listOld = (isOfKind: string) =>
    db.prepare<[string, string, number], { id: string; verdict: string; isOfKind: number }>(
      `SELECT id, verdict, CASE WHEN ${isOfKind} THEN 1 ELSE 0 END AS is_of_kind FROM delivery
       WHERE id > ? AND id < ? ORDER BY id LIMIT ?`,
    )
  return {
    listOld: { refusals: listOld(REFUSED), deliveries: listOld(`NOT (${REFUSED})`) },
    delete: db.prepare('DELETE FROM delivery WHERE id = ?'),
    countDropped: db.prepare('UPDATE refusal_tally SET listed = listed - 1, dropped = dropped + 1 WHERE verdict = ?'),
  }
}

/** Bodies that one slice removes at most: hashing them takes about 2 ms per megabyte. */
const MAX_BODY_BYTES = 4 * 1024 * 1024

/** How many events fit into a slice by the size of their bodies; at least one. */
export function countFitting(events: readonly { bytes: number }[]): number {
  let bytes = 0
  for (const [index, event] of events.entries()) {
    bytes += event.bytes
    if (bytes > MAX_BODY_BYTES && index > 0) return index
  }
  return events.length
}
