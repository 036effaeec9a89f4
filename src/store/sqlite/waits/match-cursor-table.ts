import type { EventKey, MatchBatch, MatchCursor } from '../../../core/runs/matching.ts'
import type { EventWait } from '../../../core/runs/wait.ts'
import type { Connection } from '../../connection.ts'
import { NEWEST_EVENT, STREAM } from '../incoming/event-table.ts'

/** Events behind the cursor whose keys are kept. A wait for older ones computes them again. */
const KEPT_EVENTS = 1_000_000
/** Old keys deleted with each batch: more than a batch adds, in one short slice. */
const MAX_PRUNED_KEYS = 2_000
/** A cursor whose version no process used for this long belongs to code that is gone. */
const UNUSED_MS = 24 * 3_600_000

interface CursorRow {
  id: number
  floor: number
  position: number
}

/** How far events are matched for each key, and the keys of the matched events. */
export class MatchCursorTable {
  readonly #newest
  readonly #cursors
  readonly #keys
  readonly #waits

  constructor(db: Connection) {
    // Index: primary key.
    this.#newest = db.prepare<[], number>(`SELECT ${NEWEST_EVENT}`).pluck()
    this.#cursors = prepareCursors(db)
    this.#keys = prepareKeys(db)
    this.#waits = prepareWaits(db)
  }

  async list(): Promise<{ cursors: MatchCursor[]; newest: ReadonlyMap<number, number> }> {
    const rows = await this.#cursors.list.all()
    const cursors = rows.map(({ isOpen, ...cursor }) => ({ ...cursor, stream: STREAM, isOpen: isOpen === 1 }))
    return { cursors, newest: new Map([[STREAM, await this.newest()]]) }
  }

  /** The number of the newest event, 0 without any. */
  async newest(): Promise<number> {
    return (await this.#newest.get()) ?? 0
  }

  /** Opens a cursor where the oldest open wait begins. */
  async openForWaits(
    { type, name, version }: Pick<MatchCursor, 'type' | 'name' | 'version'>,
    now: number,
  ): Promise<void> {
    const since = (await this.#waits.oldest.get(type, name)) ?? (await this.newest())
    await this.#cursors.insert.run(type, name, version, since, since, now)
  }

  /**
   * Makes sure that events after `since` get matched for a new wait, and gives the first known
   * match. A cursor without open waits stands still, and jumps to the new wait.
   */
  async cover({ type, name, version, account, value, at }: EventWait, since: number): Promise<number | null> {
    const cursor = await this.#cursors.find.get(type, name, version)
    if (!cursor) {
      const from = Math.min(since, (await this.#waits.oldest.get(type, name)) ?? since)
      await this.#cursors.insert.run(type, name, version, from, from, at)
      return null
    }
    const canJump = since > cursor.position && (await this.#waits.isOpen.get(type, name)) === undefined
    if (since < cursor.floor || canJump) {
      await this.#cursors.jump.run({ id: cursor.id, seq: since })
      return null
    }
    return (await this.#keys.firstMatch.get(cursor.id, account, value, since)) ?? null
  }

  /** Ids of a batch's cursors that are still at its start: no other process moved them. */
  async listUnmoved(batch: MatchBatch): Promise<Set<number>> {
    const positions = new Map((await this.#cursors.list.all()).map(({ id, position }) => [id, position]))
    return new Set(batch.cursors.filter(({ id }) => positions.get(id) === batch.from).map(({ id }) => id))
  }

  async addKey({ cursor, account, value, seq }: EventKey): Promise<void> {
    await this.#keys.insert.run(cursor, account, value, seq)
  }

  /** Moves a cursor, and deletes a slice of old keys and of unused cursors. */
  async move(id: number, { from, to, now }: { from: number; to: number; now: number }): Promise<void> {
    await this.#cursors.move.run(to, now, id, from)
    await this.#cursors.raiseFloor.run(to - KEPT_EVENTS, id)
    await this.#keys.prune.run(id, to - KEPT_EVENTS)
    for (const unused of await this.#cursors.listUnused.all(now - UNUSED_MS)) {
      const isEmpty = (await this.#keys.prune.run(unused, Number.MAX_SAFE_INTEGER)).changes < MAX_PRUNED_KEYS
      if (isEmpty) await this.#cursors.delete.run(unused)
    }
  }
}

/** Index: primary key, or the unique one. Lists read the whole table, a row per key and version. */
function prepareCursors(db: Connection) {
  // Index: wait_open.
  const hasOpenWait = `EXISTS (SELECT 1 FROM wait
    WHERE wait.type = match_cursor.type AND wait.name = match_cursor.name AND wait.is_resolved = 0)`
  return {
    list: db.prepare<[], Omit<MatchCursor, 'isOpen' | 'stream'> & { isOpen: number }>(
      `SELECT id, type, name, version, position_seq AS position, ${hasOpenWait} AS isOpen FROM match_cursor`,
    ),
    listUnused: db
      .prepare<[number], number>(`SELECT id FROM match_cursor WHERE used_at < ? AND NOT ${hasOpenWait}`)
      .pluck(),
    find: db.prepare<[string, string, string], CursorRow>(
      `SELECT id, floor_seq AS floor, position_seq AS position FROM match_cursor
       WHERE type = ? AND name = ? AND version = ?`,
    ),
    insert: db.prepare(
      `INSERT INTO match_cursor (type, name, version, floor_seq, position_seq, used_at) VALUES (?, ?, ?, ?, ?, ?)
       ON CONFLICT (type, name, version) DO NOTHING`,
    ),
    jump: db.prepare('UPDATE match_cursor SET floor_seq = @seq, position_seq = @seq WHERE id = @id'),
    move: db.prepare('UPDATE match_cursor SET position_seq = ?, used_at = ? WHERE id = ? AND position_seq = ?'),
    raiseFloor: db.prepare('UPDATE match_cursor SET floor_seq = max(floor_seq, ?) WHERE id = ?'),
    delete: db.prepare('DELETE FROM match_cursor WHERE id = ?'),
  }
}

/** Index: primary key of event_key; event_key_age to prune. */
function prepareKeys(db: Connection) {
  return {
    insert: db.prepare('INSERT OR IGNORE INTO event_key (cursor_id, account, value, seq) VALUES (?, ?, ?, ?)'),
    firstMatch: db
      .prepare<[number, string, string, number], number | null>(
        'SELECT min(seq) FROM event_key WHERE cursor_id = ? AND account = ? AND value = ? AND seq > ?',
      )
      .pluck(),
    prune: db.prepare(
      `DELETE FROM event_key WHERE (cursor_id, account, value, seq) IN (
         SELECT cursor_id, account, value, seq FROM event_key WHERE cursor_id = ? AND seq <= ?
         LIMIT ${MAX_PRUNED_KEYS})`,
    ),
  }
}

/** Index: wait_open. */
function prepareWaits(db: Connection) {
  const open = 'FROM wait WHERE type = ? AND name = ? AND is_resolved = 0'
  return {
    isOpen: db.prepare<[string, string], number>(`SELECT 1 ${open} LIMIT 1`).pluck(),
    oldest: db.prepare<[string, string], number | null>(`SELECT min(since_seq) ${open}`).pluck(),
  }
}
