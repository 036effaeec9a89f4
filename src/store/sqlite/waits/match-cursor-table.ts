import type { Database } from 'better-sqlite3'
import type { EventKey, MatchBatch, MatchCursor } from '../../../core/runs/matching.ts'
import type { EventWait } from '../../../core/runs/wait.ts'

/**
 * Numbers of events for which keys are kept, behind the cursor. A wait for older ones has them
 * computed again.
 */
const KEPT_EVENTS = 1_000_000
/** Old keys that go with each batch: more than a batch brings, and few enough to hold up nobody. */
const PRUNED_AT_ONCE = 2_000
/** A version that no process has used for this long is that of code that is gone. */
const UNUSED_MS = 24 * 3_600_000

interface CursorRow {
  id: number
  floor: number
  position: number
}

/** How far events have been matched, and the keys found on the way. */
export class MatchCursorTable {
  readonly #list
  readonly #newest
  readonly #get
  readonly #insert
  readonly #set
  readonly #hasOpen
  readonly #oldestWait
  readonly #move
  readonly #addKey
  readonly #firstHit
  readonly #pruneKeys
  readonly #raiseFloor
  readonly #listUnused
  readonly #delete

  constructor(db: Database) {
    // The table has a row per key and version. Index of the question in it: wait_open.
    this.#list = db.prepare<[], Omit<MatchCursor, 'isOpen'> & { isOpen: number }>(
      `SELECT id, type, name, version, cursor_seq AS position, EXISTS (
         SELECT 1 FROM wait WHERE wait.type = watch.type AND wait.name = watch.name AND wait.resolved = 0) AS isOpen
       FROM watch`,
    )
    // Index: primary key.
    this.#newest = db.prepare<[], number>('SELECT coalesce(max(seq), 0) FROM event').pluck()
    // Index: the unique one of watch.
    this.#get = db.prepare<[string, string, string], CursorRow>(
      'SELECT id, floor_seq AS floor, cursor_seq AS position FROM watch WHERE type = ? AND name = ? AND version = ?',
    )
    this.#insert = db.prepare(
      `INSERT INTO watch (type, name, version, floor_seq, cursor_seq, used_at) VALUES (?, ?, ?, ?, ?, ?)
       ON CONFLICT (type, name, version) DO NOTHING`,
    )
    // Index: primary key.
    this.#set = db.prepare('UPDATE watch SET floor_seq = @seq, cursor_seq = @seq WHERE id = @id')
    // Index: wait_open.
    this.#hasOpen = db
      .prepare<[string, string], number>('SELECT 1 FROM wait WHERE type = ? AND name = ? AND resolved = 0 LIMIT 1')
      .pluck()
    this.#oldestWait = db
      .prepare<[string, string], number | null>(
        'SELECT min(since_seq) FROM wait WHERE type = ? AND name = ? AND resolved = 0',
      )
      .pluck()
    // Index: primary keys of watch and event_key.
    this.#move = db.prepare('UPDATE watch SET cursor_seq = ?, used_at = ? WHERE id = ? AND cursor_seq = ?')
    this.#addKey = db.prepare('INSERT OR IGNORE INTO event_key (watch, account, value, seq) VALUES (?, ?, ?, ?)')
    this.#firstHit = db
      .prepare<[number, string, string, number], number | null>(
        'SELECT min(seq) FROM event_key WHERE watch = ? AND account = ? AND value = ? AND seq > ?',
      )
      .pluck()
    // Index: event_key_age, then the primary key.
    this.#pruneKeys = db.prepare(
      `DELETE FROM event_key WHERE (watch, account, value, seq) IN (
         SELECT watch, account, value, seq FROM event_key WHERE watch = ? AND seq <= ? LIMIT ${PRUNED_AT_ONCE})`,
    )
    // Index: primary key.
    this.#raiseFloor = db.prepare('UPDATE watch SET floor_seq = max(floor_seq, ?) WHERE id = ?')
    // The table has a row per key and version. Index of the question in it: wait_open.
    this.#listUnused = db
      .prepare<[number], number>(
        `SELECT id FROM watch WHERE used_at < ? AND NOT EXISTS (
           SELECT 1 FROM wait WHERE wait.type = watch.type AND wait.name = watch.name AND wait.resolved = 0)`,
      )
      .pluck()
    this.#delete = db.prepare('DELETE FROM watch WHERE id = ?')
  }

  list(): { cursors: MatchCursor[]; newest: number } {
    const cursors = this.#list.all().map(({ isOpen, ...watch }) => ({ ...watch, isOpen: isOpen === 1 }))
    return { cursors, newest: this.newest() }
  }

  newest(): number {
    return this.#newest.get() ?? 0
  }

  /** Begins where the oldest open wait does. */
  openForWaits({ type, name, version }: Pick<MatchCursor, 'type' | 'name' | 'version'>, now: number): void {
    const since = this.#oldestWait.get(type, name) ?? this.newest()
    this.#insert.run(type, name, version, since, since, now)
  }

  /**
   * Sees to it that events after `since` are matched for a wait that is not in the table yet, and
   * gives the first that is known to fit. Where nobody waits, the cursor stands still and jumps to
   * the next wait: nobody computes keys that nobody asks for.
   */
  cover({ type, name, version, account, value, at }: EventWait, since: number): number | null {
    const watch = this.#get.get(type, name, version)
    if (!watch) {
      const from = Math.min(since, this.#oldestWait.get(type, name) ?? since)
      this.#insert.run(type, name, version, from, from, at)
      return null
    }
    const canJump = since > watch.position && this.#hasOpen.get(type, name) === undefined
    if (since < watch.floor || canJump) {
      this.#set.run({ id: watch.id, seq: since })
      return null
    }
    return this.#firstHit.get(watch.id, account, value, since) ?? null
  }

  /**
   * Watches of a batch that still stand where it begins; they do not when another process was
   * faster.
   */
  standing(batch: MatchBatch): Set<number> {
    const all = new Map(this.#list.all().map((watch) => [watch.id, watch.position]))
    return new Set(batch.cursors.filter(({ id }) => all.get(id) === batch.from).map(({ id }) => id))
  }

  addKey({ cursor, account, value, seq }: EventKey): void {
    this.#addKey.run(cursor, account, value, seq)
  }

  /** Moves a watch on and takes a slice of old keys away. */
  move(id: number, { from, to, now }: { from: number; to: number; now: number }): void {
    this.#move.run(to, now, id, from)
    this.#raiseFloor.run(to - KEPT_EVENTS, id)
    this.#pruneKeys.run(id, to - KEPT_EVENTS)
    for (const unused of this.#listUnused.all(now - UNUSED_MS)) {
      const isEmpty = this.#pruneKeys.run(unused, Number.MAX_SAFE_INTEGER).changes < PRUNED_AT_ONCE
      if (isEmpty) this.#delete.run(unused)
    }
  }
}
