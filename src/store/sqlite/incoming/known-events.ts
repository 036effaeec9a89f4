import type { Database } from 'better-sqlite3'
import { BlockFilters, groupOf } from './block-filters.ts'

/** Events per block and per index segment; `blockRows` is a multiple of `segmentRows`. */
export interface RowCounts {
  blockRows: number
  segmentRows: number
}

/** Events to a block, which has one filter. */
const BLOCK_ROWS = 65_536
/** Events to a segment of the index: few, so that a commit's new entries share few pages. */
export const SEGMENT_ROWS = 512

/**
 * Tells new events from known ones: a filter per block, in memory, says which blocks of the index
 * to search. Only `search` may be called outside a transaction. See decision 3.
 */
export class KnownEvents {
  readonly #counts: RowCounts
  readonly #db: Database
  #prepared: Statements | null = null
  readonly #filters: BlockFilters
  /** Whether each transaction begins with all events in the filters: from its first event on. */
  #isComplete = false
  /** The last row in the filters. */
  #filteredTo = 0
  /** The last row in the filters that no rollback can remove. */
  #committedTo = 0

  constructor(db: Database, counts: RowCounts = { blockRows: BLOCK_ROWS, segmentRows: SEGMENT_ROWS }) {
    this.#db = db
    this.#counts = counts
    this.#filters = new BlockFilters(counts.blockRows)
  }

  get #sql(): Statements {
    this.#prepared ??= prepareStatements(this.#db)
    return this.#prepared
  }

  /** Adds the events that other processes stored since the last transaction. */
  begun(): void {
    if (this.#isComplete) this.#takeIn(this.#newest())
    this.#committedTo = this.#filteredTo
  }

  /** Forgets the rows of the transaction: their numbers will be used again. */
  rolledBack(): void {
    this.#filteredTo = this.#committedTo
  }

  /** The number of a known event, null for a new one. */
  find(identity: Buffer): number | null {
    this.#complete()
    return this.#searchBlocks(this.#filters.find(identity), identity)
  }

  /** As `find`, outside a transaction too: the events behind the last full block have no filter. */
  search(identity: Buffer): number | null {
    const newest = this.#blockOf(this.#newest())
    this.#takeIn(newest * this.#counts.blockRows - 1)
    return this.#searchBlocks([newest, ...this.#filters.find(identity)], identity)
  }

  /** Number and segment for a new event, which is known from now on. */
  add(identity: Buffer): { seq: number; segment: number } {
    this.#complete()
    const seq = this.#filteredTo + 1
    const block = this.#blockOf(seq)
    const full = groupOf(block - 1)
    if (seq % this.#counts.blockRows === 0)
      this.#sql.saveGroup.run(full, this.#filteredTo, this.#filters.readGroup(full))
    this.#filters.add(block, identity)
    this.#filteredTo = seq
    return { seq, segment: this.#segmentOf(seq) }
  }

  #complete(): void {
    if (this.#isComplete) return
    this.#isComplete = true
    this.begun()
  }

  #newest(): number {
    return this.#sql.newest.get() ?? 0
  }

  #searchBlocks(blocks: readonly number[], identity: Buffer): number | null {
    const perBlock = this.#counts.blockRows / this.#counts.segmentRows
    for (const block of blocks) {
      const seq = this.#sql.find.get((block + 1) * perBlock - 1, block * perBlock, identity)
      if (seq !== undefined) return seq
    }
    return null
  }

  #segmentOf(seq: number): number {
    return Math.floor(seq / this.#counts.segmentRows)
  }

  #blockOf(seq: number): number {
    return Math.floor(seq / this.#counts.blockRows)
  }

  /** Adds the events up to this one: from saved groups, and from the index what is in none. */
  #takeIn(to: number): void {
    while (this.#filteredTo < to) {
      const from = this.#filteredTo + 1
      const block = this.#blockOf(from)
      const saved = this.#sql.loadGroup.get(groupOf(block), from)
      if (saved) this.#filters.setGroup(groupOf(block), saved.filters)
      this.#filteredTo = saved?.seq ?? this.#addRows(block, from, to)
    }
  }

  /** Adds the events of a block up to this one, and gives the last. */
  #addRows(block: number, from: number, to: number): number {
    const last = Math.min(to, (block + 1) * this.#counts.blockRows - 1)
    for (const identity of this.#sql.identities.iterate(this.#segmentOf(from), this.#segmentOf(last), from))
      this.#filters.add(block, identity)
    return last
  }
}

type Statements = ReturnType<typeof prepareStatements>

function prepareStatements(db: Database) {
  return {
    // Index: primary key.
    newest: db.prepare<[], number | null>('SELECT max(seq) FROM event').pluck(),
    // Index: event_identity. The segments of a block, newest first.
    find: db
      .prepare<[number, number, Uint8Array], number>(
        `WITH RECURSIVE searched (number) AS (SELECT ? UNION ALL SELECT number - 1 FROM searched WHERE number > ?)
         SELECT seq FROM searched CROSS JOIN event ON segment = number AND identity = +?`,
      )
      .pluck(),
    // The plus keeps it from the primary key, whose rows have the bodies.
    identities: db
      .prepare<[number, number, number], Buffer>(
        'SELECT identity FROM event WHERE segment >= ? AND segment <= ? AND +seq >= ?',
      )
      .pluck(),
    // Index: primary key.
    loadGroup: db.prepare<[number, number], { seq: number; filters: Buffer }>(
      'SELECT seq, filters FROM event_filter WHERE number = +? AND seq >= ?',
    ),
    saveGroup: db.prepare(
      `INSERT INTO event_filter (number, seq, filters) VALUES (?, ?, ?)
       ON CONFLICT (number) DO UPDATE SET seq = excluded.seq, filters = excluded.filters`,
    ),
  }
}
