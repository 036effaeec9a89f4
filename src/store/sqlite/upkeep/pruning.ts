import type { Database } from 'better-sqlite3'
import { firstId } from '../../../core/ids.ts'
import type { PruneProgress, PruneSlice } from '../../../core/store/retention.ts'
import type { EventTable } from '../incoming/event-table.ts'

interface OldRun {
  id: string
  workflow: string
  tick_at: number | null
  folded_into: string | null
  is_old: number
}

interface OldEvent {
  seq: number
  received_at: number
  /** Of the body; 0 once it is gone. */
  bytes: number
  is_needed: number
}

/**
 * Bodies that one slice takes out at most: each is read for its hash, which takes some 2 ms a
 * megabyte.
 */
const MAX_BODY_BYTES = 4 * 1024 * 1024

const FINISHED = { runs: `('completed', 'skipped')`, failures: `('failed', 'canceled')` } as const
const REFUSED = `verdict NOT IN ('accepted', 'duplicate', 'conflict')`

/** Takes old rows away, a small slice at a time. */
export class Pruning {
  readonly #events: EventTable
  readonly #oldRuns
  readonly #isAbsorbed
  readonly #deleteRun
  readonly #deleteTick
  readonly #setAside
  readonly #asideRun
  readonly #clearAside
  readonly #deleteSteps
  readonly #deleteOutputs
  readonly #deleteFailures
  readonly #oldDeliveries
  readonly #deleteDelivery
  readonly #uncount
  readonly #oldEvents
  readonly #mark
  readonly #saveMark

  constructor(db: Database, events: EventTable) {
    this.#events = events
    // Index: primary key, from the oldest run on; ids of ours sort by time.
    const oldRuns = (statuses: string) =>
      db.prepare<[number, string, string, number], OldRun>(
        `SELECT id, workflow, tick_at, folded_into, status IN ${statuses} AND finished_at < ? AS is_old FROM run WHERE id > ? AND id < ? ORDER BY id LIMIT ?`,
      )
    this.#oldRuns = { runs: oldRuns(FINISHED.runs), failures: oldRuns(FINISHED.failures) }
    // Index: primary keys.
    this.#deleteRun = db.prepare('DELETE FROM run WHERE id = ?')
    this.#deleteTick = db.prepare('DELETE FROM tick WHERE workflow = ? AND scheduled_for = ? AND run_id = ?')
    this.#setAside = db.prepare('INSERT OR IGNORE INTO pruned_run (run_id) VALUES (?)')
    this.#asideRun = db.prepare<[], string>('SELECT run_id FROM pruned_run LIMIT 1').pluck()
    this.#clearAside = db.prepare('DELETE FROM pruned_run WHERE run_id = ?')
    this.#deleteSteps = db.prepare(
      'DELETE FROM step WHERE run_id = @id AND key IN (SELECT key FROM step WHERE run_id = @id LIMIT @limit)',
    )
    this.#deleteOutputs = db.prepare(
      'DELETE FROM blob WHERE run_id = @id AND key IN (SELECT key FROM blob WHERE run_id = @id LIMIT @limit)',
    )
    // Index: step_failure_run.
    this.#deleteFailures = db.prepare(
      'DELETE FROM step_failure WHERE rowid IN (SELECT rowid FROM step_failure WHERE run_id = ? LIMIT ?)',
    )
    // Index: primary key.
    const oldDeliveries = (isMeant: string) =>
      db.prepare<[string, string, number], { id: string; verdict: string; is_meant: number }>(
        `SELECT id, verdict, ${isMeant} AS is_meant FROM delivery WHERE id > ? AND id < ? ORDER BY id LIMIT ?`,
      )
    this.#oldDeliveries = { refusals: oldDeliveries(REFUSED), deliveries: oldDeliveries(`NOT (${REFUSED})`) }
    this.#deleteDelivery = db.prepare('DELETE FROM delivery WHERE id = ?')
    // Index: primary key.
    this.#uncount = db.prepare('UPDATE refusal_tally SET listed = listed - 1, dropped = dropped + 1 WHERE verdict = ?')
    // Index: primary key, from one run to the one that absorbed it.
    const absorber = (from: string) => `WITH RECURSIVE up (id) AS (VALUES (${from})
      UNION SELECT folded_into FROM up JOIN run ON run.id = up.id WHERE folded_into IS NOT NULL)
      SELECT 1 FROM up JOIN run ON run.id = up.id WHERE folded_into IS NULL`
    this.#isAbsorbed = db.prepare<[string], number>(absorber('?')).pluck()
    // Index: primary key of event; run_caused for the runs that may still need it.
    this.#oldEvents = db.prepare<[number, number], OldEvent>(
      `SELECT seq, received_at, octet_length(body) AS bytes, EXISTS (
         SELECT 1 FROM run WHERE event_seq = event.seq AND (status IN ('pending', 'running', 'waiting')
           OR folded_into IS NOT NULL AND EXISTS (${absorber('run.folded_into')} AND status IN ('pending', 'running', 'waiting')))) AS is_needed
       FROM event WHERE seq > ? ORDER BY seq LIMIT ?`,
    )
    // Index: primary key.
    this.#mark = db.prepare<[string], number>('SELECT position FROM prune_mark WHERE kind = ?').pluck()
    this.#saveMark = db.prepare(
      'INSERT INTO prune_mark (kind, position) VALUES (?, ?) ON CONFLICT (kind) DO UPDATE SET position = excluded.position',
    )
  }

  prune(slice: PruneSlice): PruneProgress {
    switch (slice.kind) {
      case 'runs':
      case 'failures':
        return this.#pruneRuns(slice, slice.kind)
      case 'refusals':
      case 'deliveries':
        return this.#pruneDeliveries(slice, slice.kind)
      case 'payloads':
        return this.#prunePayloads(slice)
      default:
        return slice.kind satisfies never
    }
  }

  /**
   * A run goes first and its steps after it: half a journal under a run that somebody retries would
   * repeat its effects.
   */
  #pruneRuns({ before, limit, after }: PruneSlice, kind: 'runs' | 'failures'): PruneProgress {
    let rows = this.#clearRests(limit)
    let next = after ?? ''
    let pruned = 0
    if (rows >= limit) return { pruned, next }
    const found = this.#oldRuns[kind].all(before, next, firstId('run', before), limit - rows)
    for (const { id, workflow, tick_at, folded_into, is_old } of found) {
      next = id
      rows += 1
      // What a run has absorbed stays as long as the run itself: its events are found by it.
      if (is_old === 1 && (folded_into === null || this.#isAbsorbed.get(folded_into) === undefined)) {
        this.#deleteRun.run(id)
        if (tick_at !== null) this.#deleteTick.run(workflow, tick_at, id)
        this.#setAside.run(id)
        pruned += 1
        rows += this.#clearRests(limit - rows)
      }
      if (rows >= limit) return { pruned, next }
    }
    return { pruned, next: null }
  }

  /** Steps of runs that are gone; gives the number of rows, `limit` where some are left. */
  #clearRests(limit: number): number {
    let rows = 0
    for (let id = this.#asideRun.get(); id !== undefined && rows < limit; id = this.#asideRun.get()) {
      rows += this.#deleteSteps.run({ id, limit: limit - rows }).changes
      if (rows < limit) rows += this.#deleteOutputs.run({ id, limit: limit - rows }).changes
      if (rows < limit) rows += this.#deleteFailures.run(id, limit - rows).changes
      if (rows >= limit) return limit
      this.#clearAside.run(id)
      rows += 1
    }
    return rows
  }

  #pruneDeliveries({ before, limit, after }: PruneSlice, kind: 'refusals' | 'deliveries'): PruneProgress {
    const found = this.#oldDeliveries[kind].all(after ?? '', firstId('dlv', before), limit)
    const meant = found.filter((row) => row.is_meant === 1)
    for (const { id, verdict } of meant) {
      this.#deleteDelivery.run(id)
      if (kind === 'refusals') this.#uncount.run(verdict)
    }
    return { pruned: meant.length, next: found.length < limit ? null : (found.at(-1)?.id ?? null) }
  }

  /**
   * The event itself stays for ever: it must be known when it is delivered again. A body that an
   * unfinished run may need is kept.
   */
  #prunePayloads({ before, limit, after }: PruneSlice): PruneProgress {
    const mark = this.#mark.get('payloads') ?? 0
    const from = after === null ? mark : Number(after)
    const found = this.#oldEvents.all(from, limit)
    const old = found.slice(0, found.findIndex((row) => row.received_at >= before) >>> 0)
    const taken = old.slice(0, countFitting(old))
    const firstNeeded = taken.find((row) => row.is_needed === 1)
    const emptied = taken.filter((row) => row.bytes > 0 && row.is_needed === 0)
    for (const { seq } of emptied) this.#events.dropBody(seq)
    const end = taken.at(-1)?.seq ?? from
    // The next round begins at the first body that had to stay, or where this one ended.
    if (from === mark) this.#saveMark.run('payloads', firstNeeded ? firstNeeded.seq - 1 : end)
    return { pruned: emptied.length, next: taken.length < limit && taken.length === old.length ? null : String(end) }
  }
}

/** How many of these a slice may take for the size of their bodies; one in any case. */
function countFitting(events: readonly OldEvent[]): number {
  let bytes = 0
  for (const [index, event] of events.entries()) {
    bytes += event.bytes
    if (bytes > MAX_BODY_BYTES && index > 0) return index
  }
  return events.length
}
