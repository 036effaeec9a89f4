import { firstId } from '../../../core/ids.ts'
import type { PruneProgress, PruneSlice } from '../../../core/store/retention.ts'
import type { Connection } from '../../connection.ts'
import type { AuditTable } from '../../tables/safety/audit-table.ts'
import type { EffectTable } from '../../tables/safety/effect-table.ts'
import type { SealTable } from '../../tables/safety/seal-table.ts'
import { FilePruning } from '../../tables/upkeep/file-pruning.ts'
import type { EventTable } from '../incoming/event-table.ts'
import { blockOf } from '../search/subject-index.ts'

interface OldRun {
  id: string
  workflow: string
  tick_at: number | null
  folded_into: string | null
  is_old: number
}

export interface OldEvent {
  seq: number
  received_at: number
  /** Size of the body, 0 once pruned. */
  bytes: number
  is_needed: number
}

/** Bodies that one slice removes at most: hashing them takes about 2 ms per megabyte. */
const MAX_BODY_BYTES = 4 * 1024 * 1024

export const FINISHED = { runs: `('completed', 'skipped', 'planned')`, failures: `('failed', 'canceled')` } as const
export const REFUSED = `verdict NOT IN ('accepted', 'duplicate', 'conflict')`

interface PrunedTables {
  events: EventTable
  audits: AuditTable
  effects: EffectTable
  seals: SealTable
}

/** Deletes old rows, one small slice per call. See decision 17. */
export class Pruning {
  readonly #events: EventTable
  readonly #audits: AuditTable
  readonly #effects: EffectTable
  readonly #seals: SealTable
  readonly #files: FilePruning
  readonly #runs
  readonly #rests
  readonly #deliveries
  readonly #bodies

  constructor(db: Connection, { events, audits, effects, seals }: PrunedTables) {
    this.#events = events
    this.#audits = audits
    this.#effects = effects
    this.#seals = seals
    this.#files = new FilePruning(db)
    this.#runs = prepareRuns(db)
    this.#rests = prepareRests(db)
    this.#deliveries = prepareDeliveries(db)
    this.#bodies = prepareBodies(db)
  }

  async prune(slice: PruneSlice): Promise<PruneProgress> {
    switch (slice.kind) {
      case 'runs':
      case 'failures':
        return this.#pruneRuns(slice, slice.kind)
      case 'refusals':
      case 'deliveries':
        return this.#pruneDeliveries(slice, slice.kind)
      case 'payloads':
        return this.#prunePayloads(slice)
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
    const found = await this.#runs.listOld[kind].all(before, next, firstId('run', before), limit - rows)
    for (const { id, workflow, tick_at, folded_into, is_old } of found) {
      next = id
      rows += 1
      // A folded run stays as long as the run that absorbed it, which finds its events by it.
      if (is_old === 1 && (folded_into === null || (await this.#runs.hasAbsorber.get(folded_into)) === undefined)) {
        if ((await this.#runs.deleteEnd.run(id)).changes === 0) continue
        await this.#runs.delete.run(id)
        if (tick_at !== null) await this.#runs.deleteTick.run(workflow, tick_at, id)
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
      if (rows < limit) rows += (await this.#rests.deleteFailures.run(id, limit - rows)).changes
      if (rows < limit) rows += (await this.#rests.deleteLog.run({ id, limit: limit - rows })).changes
      if (rows >= limit) return limit
      await this.#rests.remove.run(id)
      rows += 1
    }
    return rows
  }

  async #pruneDeliveries(
    { before, limit, after }: PruneSlice,
    kind: 'refusals' | 'deliveries',
  ): Promise<PruneProgress> {
    const found = await this.#deliveries.listOld[kind].all(after ?? '', firstId('dlv', before), limit)
    const ofKind = found.filter((row) => row.is_of_kind === 1)
    for (const { id, verdict } of ofKind) {
      await this.#deliveries.delete.run(id)
      if (kind === 'refusals') await this.#deliveries.countDropped.run(verdict)
    }
    return { pruned: ofKind.length, next: found.length < limit ? null : (found.at(-1)?.id ?? null) }
  }

  async #pruneAudit({ before, limit }: PruneSlice): Promise<PruneProgress> {
    const pruned = await this.#audits.prune(before, limit)
    return { pruned, next: pruned < limit ? null : '' }
  }

  /**
   * Deletes rows that a seal has named as pruned, and otherwise names the next ones. So the chain
   * tells at each moment which rows may be missing, whatever ends the process.
   */
  async #pruneEffects({ before, now = before, limit }: PruneSlice): Promise<PruneProgress> {
    const pruned = await this.#effects.prune(await this.#seals.prunedTo(), limit)
    if (pruned === limit) return { pruned, next: '' }
    const prunedTo = await this.#seals.findPrunable(before, limit)
    if (prunedTo === null) return { pruned, next: null }
    await this.#seals.append({ kind: 'pruned', at: now, prunedTo })
    await this.#effects.note({ at: now, phase: 'noted', operation: 'prune', outcome: `rows up to ${prunedTo}` })
    return { pruned, next: '' }
  }

  /** Removes bodies that no unfinished run needs. The event stays, to recognize a repetition. */
  async #prunePayloads({ before, limit, after }: PruneSlice): Promise<PruneProgress> {
    const mark = (await this.#bodies.mark.get('payloads')) ?? 0
    const from = after === null ? mark : Number(after)
    const found = await this.#bodies.listOld.all(from, limit)
    const old = found.slice(0, found.findIndex((row) => row.received_at >= before) >>> 0)
    const slice = old.slice(0, countFitting(old))
    const firstNeeded = slice.find((row) => row.is_needed === 1)
    const emptied = slice.filter((row) => row.bytes > 0 && row.is_needed === 0)
    for (const { seq } of emptied) await this.#events.dropBody(seq)
    await this.#bodies.dropSubjects.run(blockOf(mark), limit)
    const end = slice.at(-1)?.seq ?? from
    // The next round begins at the first body that stayed, or at the end of this slice.
    if (from === mark) await this.#bodies.saveMark.run('payloads', firstNeeded ? firstNeeded.seq - 1 : end)
    return { pruned: emptied.length, next: slice.length < limit && slice.length === old.length ? null : String(end) }
  }
}

/** SQL for the run that finally absorbed the run `from`; no row once that is pruned. */
export function selectAbsorber(from: string): string {
  return `WITH RECURSIVE up (id) AS (VALUES (${from})
      UNION SELECT folded_into FROM up JOIN outcome ON outcome.run_id = up.id WHERE folded_into IS NOT NULL)
    SELECT 1 FROM up JOIN full_run AS run ON run.id = up.id WHERE run.folded_into IS NULL`
}

/** Index: primary keys; the list goes from the oldest run on, as our ids sort by time. */
function prepareRuns(db: Connection) {
  const listOld = (statuses: string) =>
    db.prepare<[number, string, string, number], OldRun>(
      `SELECT id, run.workflow, tick_at, folded_into, coalesce(status IN ${statuses} AND finished_at < ?, 0) AS is_old
       FROM run LEFT JOIN outcome ON outcome.run_id = run.id WHERE id > ? AND id < ? ORDER BY id LIMIT ?`,
    )
  return {
    listOld: { runs: listOld(FINISHED.runs), failures: listOld(FINISHED.failures) },
    hasAbsorber: db.prepare<[string], number>(selectAbsorber('?')).pluck(),
    // A run that a person retries now has no end any more, and stays.
    deleteEnd: db.prepare('DELETE FROM outcome WHERE run_id = ?'),
    delete: db.prepare('DELETE FROM run WHERE id = ?'),
    deleteTick: db.prepare('DELETE FROM tick WHERE workflow = ? AND scheduled_for = ? AND run_id = ?'),
  }
}

/** Statements on the steps of pruned runs. Index: primary keys; step_failure_run for failures. */
function prepareRests(db: Connection) {
  return {
    add: db.prepare('INSERT OR IGNORE INTO pruned_run (run_id) VALUES (?)'),
    first: db.prepare<[], string>('SELECT run_id FROM pruned_run LIMIT 1').pluck(),
    remove: db.prepare('DELETE FROM pruned_run WHERE run_id = ?'),
    deleteSteps: db.prepare(
      'DELETE FROM step WHERE run_id = @id AND key IN (SELECT key FROM step WHERE run_id = @id LIMIT @limit)',
    ),
    deleteOutputs: db.prepare(
      `DELETE FROM large_output
       WHERE run_id = @id AND key IN (SELECT key FROM large_output WHERE run_id = @id LIMIT @limit)`,
    ),
    deleteLog: db.prepare(
      `DELETE FROM run_log
       WHERE run_id = @id AND number IN (SELECT number FROM run_log WHERE run_id = @id LIMIT @limit)`,
    ),
    deleteFailures: db.prepare(
      'DELETE FROM step_failure WHERE number IN (SELECT number FROM step_failure WHERE run_id = ? LIMIT ?)',
    ),
  }
}

/** Index: primary keys. */
function prepareDeliveries(db: Connection) {
  const listOld = (isOfKind: string) =>
    db.prepare<[string, string, number], { id: string; verdict: string; is_of_kind: number }>(
      `SELECT id, verdict, ${isOfKind} AS is_of_kind FROM delivery WHERE id > ? AND id < ? ORDER BY id LIMIT ?`,
    )
  return {
    listOld: { refusals: listOld(REFUSED), deliveries: listOld(`NOT (${REFUSED})`) },
    delete: db.prepare('DELETE FROM delivery WHERE id = ?'),
    countDropped: db.prepare('UPDATE refusal_tally SET listed = listed - 1, dropped = dropped + 1 WHERE verdict = ?'),
  }
}

/** The oldest events. Index: primary key; run_caused for the runs that may still need a body. */
export const OLD_EVENTS = `SELECT seq, received_at, octet_length(body) AS bytes, EXISTS (
    SELECT 1 FROM run LEFT JOIN outcome ON outcome.run_id = run.id
    WHERE event_seq = event.seq AND (outcome.run_id IS NULL OR outcome.folded_into IS NOT NULL
      AND EXISTS (${selectAbsorber('outcome.folded_into')} AND run.work_status IS NOT NULL))
  ) AS is_needed
  FROM event WHERE seq > ? ORDER BY seq LIMIT ?`

/** Position before the first event whose body may still be there. Index: primary key. */
export const PRUNE_MARK = 'SELECT position FROM prune_mark WHERE kind = ?'

/** Index: primary keys. */
function prepareBodies(db: Connection) {
  return {
    listOld: db.prepare<[number, number], OldEvent>(OLD_EVENTS),
    // Whole blocks, whose bodies are all gone.
    dropSubjects: db.prepare<[number, number]>(
      `DELETE FROM event_subject WHERE (block, subject, seq) IN
         (SELECT block, subject, seq FROM event_subject WHERE block < ? LIMIT ?)`,
    ),
    mark: db.prepare<[string], number>(PRUNE_MARK).pluck(),
    saveMark: db.prepare(
      `INSERT INTO prune_mark (kind, position) VALUES (?, ?)
       ON CONFLICT (kind) DO UPDATE SET position = excluded.position`,
    ),
  }
}

/** How many events fit into a slice by the size of their bodies; at least one. */
function countFitting(events: readonly OldEvent[]): number {
  let bytes = 0
  for (const [index, event] of events.entries()) {
    bytes += event.bytes
    if (bytes > MAX_BODY_BYTES && index > 0) return index
  }
  return events.length
}
