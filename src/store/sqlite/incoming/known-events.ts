import type { Database } from 'better-sqlite3'
import { keepPlan } from '../database/connection.ts'

/** Events per block and per index segment; `blockRows` is a multiple of `segmentRows`. */
export interface RowCounts {
  blockRows: number
  segmentRows: number
}

/** Filters that searches keep: 48 MB. */
const MAX_STORED = 256

/**
 * Tells new events from known ones: a filter per block, in memory, says which blocks of the index
 * to search. Only `search` may be called outside a transaction. See decision 3.
 */
export class KnownEvents {
  readonly #counts: RowCounts
  readonly #db: Database
  #prepared: Statements | null = null
  readonly #filters: BloomFilter[] = []
  /** Filters that searches have read, by the number of their block. */
  readonly #stored = new Map<number, BloomFilter>()
  #isLoaded = false
  /** The last row in the filters. */
  #filteredTo = 0
  /** The last row in the filters that no rollback can remove. */
  #committedTo = 0

  constructor(db: Database, counts: RowCounts = { blockRows: BLOCK_ROWS, segmentRows: SEGMENT_ROWS }) {
    this.#db = db
    this.#counts = counts
  }

  get #sql(): Statements {
    this.#prepared ??= prepareStatements(this.#db)
    return this.#prepared
  }

  /** Adds the events that other processes stored since the last transaction. */
  begun(): void {
    if (!this.#isLoaded) return
    const newest = this.#sql.newest.get() ?? 0
    if (newest > this.#filteredTo) this.#addMissing()
    this.#committedTo = this.#filteredTo
  }

  /** Forgets the rows of the transaction: their numbers will be used again. */
  rolledBack(): void {
    this.#filteredTo = this.#committedTo
  }

  /** The number of a known event, null for a new one. */
  find(identity: Buffer): number | null {
    this.#loadFilters()
    for (let block = this.#filters.length - 1; block >= 0; block--) {
      const seq =
        this.#filters[block]?.mayHold(identity) === true
          ? this.#searchSegments(this.#segmentsOf(block), identity)
          : null
      if (seq !== null) return seq
    }
    return null
  }

  /** As `find`, outside a transaction too: by the stored filters of the full blocks. */
  search(identity: Buffer): number | null {
    const newest = this.#blockOf(this.#sql.newest.get() ?? 0)
    for (let block = newest; block >= 0; block--) {
      const filter = block === newest ? null : this.#readStored(block, newest)
      const seq = filter?.mayHold(identity) === false ? null : this.#searchSegments(this.#segmentsOf(block), identity)
      if (seq !== null) return seq
    }
    return null
  }

  /** Kept, but for the block that was full last: the transaction that filled it may roll back. */
  #readStored(block: number, newest: number): BloomFilter | null {
    const kept = this.#stored.get(block)
    if (kept) return kept
    const saved = this.#sql.loadFilter.get(block)
    if (saved === undefined) return null
    const filter = new BloomFilter(this.#counts.blockRows, saved)
    if (block < newest - 1 && this.#stored.size < MAX_STORED) this.#stored.set(block, filter)
    return filter
  }

  /** Number and segment for a new event, which is known from now on. */
  add(identity: Buffer): { seq: number; segment: number } {
    this.#loadFilters()
    const seq = this.#filteredTo + 1
    this.#addToFilter(seq, identity)
    return { seq, segment: Math.floor(seq / this.#counts.segmentRows) }
  }

  #searchSegments({ from, to }: { from: number; to: number }, identity: Buffer): number | null {
    for (let segment = to - 1; segment >= from; segment--) {
      const seq = this.#sql.find.get(segment, identity)
      if (seq !== undefined) return seq
    }
    return null
  }

  #segmentsOf(block: number): { from: number; to: number } {
    const perBlock = this.#counts.blockRows / this.#counts.segmentRows
    return { from: block * perBlock, to: (block + 1) * perBlock }
  }

  #blockOf(seq: number): number {
    return Math.floor(seq / this.#counts.blockRows)
  }

  #addToFilter(seq: number, identity: Buffer): void {
    const block = this.#blockOf(seq)
    const full = this.#filters[block - 1]
    if (full && !this.#filters[block]) this.#sql.saveFilter.run(block - 1, full.toBytes())
    const filter = this.#filters[block] ?? new BloomFilter(this.#counts.blockRows)
    this.#filters[block] = filter
    filter.add(identity)
    this.#filteredTo = seq
  }

  #addMissing(): void {
    for (const { seq, identity } of this.#sql.identitiesAfter.all(this.#filteredTo)) this.#addToFilter(seq, identity)
  }

  /** Runs at the first event of a process. Only the current block has no stored filter. */
  #loadFilters(): void {
    if (this.#isLoaded) return
    this.#isLoaded = true
    const newest = this.#sql.newest.get() ?? 0
    for (let block = 0; block <= this.#blockOf(newest); block++) {
      const saved = block < this.#blockOf(newest) ? this.#sql.loadFilter.get(block) : undefined
      this.#filters.push(saved ? new BloomFilter(this.#counts.blockRows, saved) : this.#buildFilter(block))
    }
    this.#filteredTo = newest
    this.#committedTo = newest
  }

  #buildFilter(block: number): BloomFilter {
    const filter = new BloomFilter(this.#counts.blockRows)
    const { from, to } = this.#segmentsOf(block)
    for (const identity of this.#sql.identitiesOf.iterate(from, to)) filter.add(identity)
    return filter
  }
}

type Statements = ReturnType<typeof prepareStatements>

function prepareStatements(db: Database) {
  return {
    // Index: primary key.
    newest: db.prepare<[], number | null>('SELECT max(seq) FROM event').pluck(),
    identitiesAfter: db.prepare<[number], { seq: number; identity: Buffer }>(
      'SELECT seq, identity FROM event WHERE seq > ? ORDER BY seq',
    ),
    // Index: event_identity.
    find: db
      .prepare<[number, Uint8Array], number>(keepPlan('SELECT seq FROM event WHERE segment = ? AND identity = ?'))
      .pluck(),
    identitiesOf: db
      .prepare<[number, number], Buffer>('SELECT identity FROM event WHERE segment >= ? AND segment < ?')
      .pluck(),
    // Index: primary key.
    loadFilter: db.prepare<[number], Buffer>(keepPlan('SELECT filter FROM event_block WHERE number = ?')).pluck(),
    saveFilter: db.prepare(
      `INSERT INTO event_block (number, filter) VALUES (?, ?)
       ON CONFLICT (number) DO UPDATE SET filter = excluded.filter`,
    ),
  }
}

/** Events to a block, which has one filter. */
const BLOCK_ROWS = 65_536
/** Events to a segment of the index: few, so that a commit's new entries share few pages. */
export const SEGMENT_ROWS = 512

const BITS_PER_KEY = 24
const PROBES = 6
const LINE_WORDS = 16
const LINE_BITS = LINE_WORDS * 32

/**
 * A Bloom filter over event identities: no false negatives, 2 false positives in 10,000 when full.
 * All bits of a key are in one cache line of 64 bytes, so a lookup reads memory once.
 */
export class BloomFilter {
  readonly #words: Uint32Array
  readonly #lines: number

  constructor(rows: number, bytes?: Uint8Array) {
    this.#lines = Math.ceil((rows * BITS_PER_KEY) / LINE_BITS)
    this.#words = new Uint32Array(this.#lines * LINE_WORDS)
    if (bytes) new Uint8Array(this.#words.buffer).set(bytes)
  }

  add(identity: Buffer): void {
    const line = this.#findLine(identity)
    for (let probe = 0; probe < PROBES; probe++) {
      const bit = probeBit(identity, probe)
      const at = line + (bit >>> 5)
      this.#words[at] = (this.#words[at] ?? 0) | (1 << (bit & 31))
    }
  }

  mayHold(identity: Buffer): boolean {
    const line = this.#findLine(identity)
    for (let probe = 0; probe < PROBES; probe++) {
      const bit = probeBit(identity, probe)
      if ((((this.#words[line + (bit >>> 5)] ?? 0) >>> (bit & 31)) & 1) === 0) return false
    }
    return true
  }

  /** The bytes that the constructor accepts. */
  toBytes(): Buffer {
    return Buffer.from(this.#words.buffer)
  }

  #findLine(identity: Buffer): number {
    return (identity.readUInt32LE(0) % this.#lines) * LINE_WORDS
  }
}

/** An identity is random bytes: four choose the line, two more choose each bit in it. */
function probeBit(identity: Buffer, probe: number): number {
  return identity.readUInt16LE(4 + probe * 2) % LINE_BITS
}
