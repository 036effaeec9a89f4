import type { EventKey, MatchBatch, MatchCursor } from '../../../core/runs/matching.ts'
import type { EventWait } from '../../../core/runs/wait.ts'
import { JoinedTable } from '../../connection.ts'
import type { Events } from '../incoming/events.ts'

/** Events behind the cursor whose keys are kept. A wait for older ones computes them again. */
const KEPT_EVENTS = 1_000_000
/** Old keys deleted with each batch: more than a batch adds, in one short slice. */
const MAX_PRUNED_KEYS = 2_000
/** A cursor whose version no process used for this long belongs to code that is gone. */
const UNUSED_MS = 24 * 3_600_000

interface CursorRow {
  id: number
  version: string
  floor: number
  position: number
}

// Index: wait_open, whose order is asked for, so that it is taken however common such waits are.
const HAS_OPEN_WAIT = `((SELECT 1 FROM wait
  WHERE wait.type = match_cursor.type AND wait.name = match_cursor.name AND wait.stream = match_cursor.stream
    AND wait.is_resolved = 0 ORDER BY account, value, since_seq LIMIT 1) IS NOT NULL)`

/** How far events are matched for each key, and the keys of the matched events. */
export class MatchCursorTable extends JoinedTable<{ events: Events }> {
  /** Index: primary key, or the unique one. Lists read all rows: one per key and version. */
  readonly #cursors = {
    list: this.db.prepare<[], Omit<MatchCursor, 'isOpen'> & { isOpen: number }>(
      `SELECT id, stream, type, name, version, position_seq AS position,
         CASE WHEN ${HAS_OPEN_WAIT} THEN 1 ELSE 0 END AS is_open
       FROM match_cursor ORDER BY id`,
    ),
    // Its keys go in slices, so an older wait begins it anew. One that is locked is needed now.
    retire: this.db.pluck<[number], number>(
      `UPDATE match_cursor SET floor_seq = position_seq WHERE id IN (
         SELECT id FROM match_cursor WHERE used_at < ? AND NOT ${HAS_OPEN_WAIT} ${this.db.sql.skipLocked})
       RETURNING id`,
    ),
    find: this.db.prepare<[string, string, number], CursorRow>(
      `SELECT id, version, floor_seq AS floor, position_seq AS position FROM match_cursor
       WHERE type = ? AND name = ? AND stream = ? ${this.db.sql.forUpdate()}`,
    ),
    insert: this.db.prepare(
      `INSERT INTO match_cursor (stream, type, name, version, floor_seq, position_seq, used_at)
       VALUES (?, ?, ?, ?, ?, ?, ?) ON CONFLICT (type, name, version, stream) DO NOTHING`,
    ),
    lockAt: this.db.pluck<
      [number[], number],
      number
    >(`SELECT id FROM match_cursor WHERE ${this.db.sql.isOneOf('id', 'bigint')} AND position_seq = ?
         ORDER BY id ${this.db.sql.forUpdate()}`),
    lockOf: this.db.prepare<[string], unknown>(
      `SELECT 1 FROM match_cursor WHERE (type, name, stream) IN (
         SELECT value ->> 0, value ->> 1, CAST(value ->> 2 AS bigint) FROM ${this.db.sql.rows})
       ORDER BY id ${this.db.sql.forUpdate()}`,
    ),
    jump: this.db.prepare('UPDATE match_cursor SET floor_seq = @seq, position_seq = @seq WHERE id = @id'),
    move: this.db.prepare('UPDATE match_cursor SET position_seq = ?, used_at = ? WHERE id = ? AND position_seq = ?'),
    raiseFloor: this.db.prepare(
      `UPDATE match_cursor SET floor_seq = ${this.db.sql.greatest}(floor_seq, ?) WHERE id = ?`,
    ),
    // A wait may have come before the row was locked.
    delete: this.db.prepare(`DELETE FROM match_cursor WHERE id = ? AND NOT ${HAS_OPEN_WAIT}`),
  }
  /** Index: primary key of event_key; event_key_age to prune. */
  readonly #keys = {
    firstMatch: this.db.pluck<[number, string, string, number], number | null>(
      'SELECT min(seq) FROM event_key WHERE cursor_id = ? AND account = ? AND value = ? AND seq > ?',
    ),
    // An event has one key for a cursor.
    prune: this.db.prepare<[{ id: number; to: number }]>(
      `DELETE FROM event_key WHERE cursor_id = @id AND seq <= (SELECT max(seq) FROM (
         SELECT seq FROM event_key WHERE cursor_id = @id AND seq <= @to ORDER BY seq LIMIT ${MAX_PRUNED_KEYS}) AS old)`,
    ),
  }
  /** Index: wait_open. */
  readonly #waits = {
    isOpen: this.db.prepare<[string, string, number], number>(
      `SELECT 1 FROM wait WHERE type = ? AND name = ? AND stream = ? AND is_resolved = 0
       ORDER BY account, value, since_seq LIMIT 1`,
    ),
    oldest: this.db.prepare<[string, string], { stream: number; since: number }>(
      `SELECT stream, min(since_seq) AS since FROM wait WHERE type = ? AND name = ? AND is_resolved = 0
       GROUP BY stream`,
    ),
  }

  async list(): Promise<MatchCursor[]> {
    const rows = await this.#cursors.list.all()
    return rows.map(({ isOpen, ...cursor }) => ({ ...cursor, isOpen: isOpen === 1 }))
  }

  /**
   * The moment of the first event that no version of an awaited key was matched to; null: there is
   * none. Index: event by number.
   */
  readonly findUnmatchedSince = this.readValue<[], number>(
    `SELECT received_at FROM (
       SELECT min((SELECT received_at FROM full_event AS event
         WHERE event.stream = match_cursor.stream AND event.seq > position_seq
         ORDER BY event.seq LIMIT 1)) AS received_at
       FROM match_cursor WHERE ${HAS_OPEN_WAIT} AND NOT EXISTS (SELECT 1 FROM match_cursor AS other
         WHERE other.type = match_cursor.type AND other.name = match_cursor.name
           AND other.stream = match_cursor.stream AND other.position_seq > match_cursor.position_seq)) AS first
     WHERE received_at IS NOT NULL`,
  )

  /**
   * Starts matching events for a key, from its oldest wait on; called when a process has new key
   * functions.
   */
  async openMatchCursor(
    { type, name, version }: Pick<MatchCursor, 'type' | 'name' | 'version'>,
    now: number,
  ): Promise<void> {
    for (const { stream, since } of await this.#waits.oldest.all(type, name)) {
      await this.#cursors.insert.run(stream, type, name, version, since, since, now)
    }
  }

  /** Locks the cursors of new waits before the run's row, as a batch does. */
  async lockFor(waits: readonly EventWait[]): Promise<void> {
    if (!this.db.sql.hasRowLocks || waits.length === 0) return
    const keys = waits.map((wait) => [wait.type, wait.name, this.parts.events.streamOf(wait.account)])
    await this.#cursors.lockOf.all(JSON.stringify(keys))
  }

  /**
   * Makes sure that events after `since` get matched for a new wait, and gives the first known
   * match. A cursor without open waits stands still, and jumps to the new wait.
   */
  async cover(wait: EventWait, since: number): Promise<number | null> {
    const { type, name, version, account, value, at } = wait
    const stream = this.parts.events.streamOf(account)
    // Locked to the commit: a batch either sees the new wait, or has moved the cursor already.
    const cursors = await this.#cursors.find.all(type, name, stream)
    const own = cursors.find((cursor) => cursor.version === version)
    const canJump = own && since > own.position && (await this.#waits.isOpen.get(type, name, stream)) === undefined
    let match: number | null = null
    let unknownFrom = since
    if (!own) {
      const waits = await this.#waits.oldest.all(type, name)
      const from = Math.min(since, waits.find((each) => each.stream === stream)?.since ?? since)
      const { changes } = await this.#cursors.insert.run(stream, type, name, version, from, from, at)
      // Another wait was first, whose cursor may begin behind events of this one.
      if (changes === 0) return this.cover(wait, since)
    } else if (since < own.floor || canJump) await this.#cursors.jump.run({ id: own.id, seq: since })
    else {
      match = (await this.#keys.firstMatch.get(own.id, account, value, since)) ?? null
      unknownFrom = Math.max(since, own.position)
    }
    // The processes of this version may end before they have matched the rest: others do, too.
    for (const { id, position } of cursors) {
      if (position > unknownFrom) await this.#cursors.jump.run({ id, seq: unknownFrom })
    }
    return match
  }

  /** Ids of a batch's cursors that are still at its start, which are locked to the commit. */
  async listUnmoved(batch: MatchBatch): Promise<Set<number>> {
    const ids = batch.cursors.map(({ id }) => id)
    return new Set(await this.#cursors.lockAt.all(ids, batch.from))
  }

  readonly addKey = this.write(
    'INSERT INTO event_key (cursor_id, account, value, seq) VALUES (?, ?, ?, ?) ON CONFLICT DO NOTHING',
    ({ cursor, account, value, seq }: EventKey) => [cursor, account, value, seq],
  )

  /** Moves a cursor, and deletes a slice of old keys and of unused cursors. */
  async move(id: number, { from, to, now }: { from: number; to: number; now: number }): Promise<void> {
    await this.#cursors.move.run(to, now, id, from)
    const kept = to - KEPT_EVENTS * this.parts.events.streams
    await this.#cursors.raiseFloor.run(kept, id)
    await this.#keys.prune.run({ id, to: kept })
    for (const unused of await this.#cursors.retire.all(now - UNUSED_MS)) {
      const isEmpty =
        (await this.#keys.prune.run({ id: unused, to: Number.MAX_SAFE_INTEGER })).changes < MAX_PRUNED_KEYS
      if (isEmpty) await this.#cursors.delete.run(unused)
    }
  }
}
