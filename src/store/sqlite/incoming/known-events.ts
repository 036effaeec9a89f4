import type { Database } from 'better-sqlite3'
import { BloomFilter, ERA_ROWS, STRETCH_ROWS } from './bloom-filter.ts'

/**
 * How rows are counted together: `eraRows` to a filter, `stretchRows` to a stretch of the index;
 * the first a multiple.
 */
export interface Counting {
  eraRows: number
  stretchRows: number
}

/**
 * Tells new events from known ones, for ever and without touching cold pages: a filter in memory
 * per era says where an event might be, and only there the index is asked, stretch by stretch.
 * Every question is put within a transaction that began with {@link begun}, so nobody else can add
 * an event between the answer and what is done about it.
 */
export class KnownEvents {
  readonly #counting: Counting
  readonly #newest
  readonly #find
  readonly #identitiesOf
  readonly #identitiesAfter
  readonly #loadFilter
  readonly #saveFilter
  readonly #filters: BloomFilter[] = []
  #isLoaded = false
  /** Every row up to here is in the filters … */
  #filteredTo = 0
  /** … and up to here for good: what came later in this transaction may be rolled back. */
  #committedTo = 0

  constructor(db: Database, counting: Counting = { eraRows: ERA_ROWS, stretchRows: STRETCH_ROWS }) {
    this.#counting = counting
    // Index: primary key.
    this.#newest = db.prepare<[], number | null>('SELECT max(seq) FROM event').pluck()
    this.#identitiesAfter = db.prepare<[number], { seq: number; identity: Buffer }>(
      'SELECT seq, identity FROM event WHERE seq > ? ORDER BY seq',
    )
    // Index: event_identity.
    this.#find = db
      .prepare<[number, Uint8Array], number>('SELECT seq FROM event WHERE stretch = ? AND identity = ?')
      .pluck()
    this.#identitiesOf = db
      .prepare<[number, number], Buffer>('SELECT identity FROM event WHERE stretch >= ? AND stretch < ?')
      .pluck()
    // Index: primary key.
    this.#loadFilter = db.prepare<[number], Buffer>('SELECT filter FROM event_era WHERE number = ?').pluck()
    this.#saveFilter = db.prepare(
      'INSERT INTO event_era (number, filter) VALUES (?, ?) ON CONFLICT (number) DO UPDATE SET filter = excluded.filter',
    )
  }

  /** A transaction began: takes in what other processes have added since the last one. */
  begun(): void {
    if (!this.#isLoaded) return
    const newest = this.#newest.get() ?? 0
    if (newest > this.#filteredTo) this.#takeIn()
    this.#committedTo = this.#filteredTo
  }

  /** It was rolled back: rows that it added are gone, and their numbers may be given to others. */
  rolledBack(): void {
    this.#filteredTo = this.#committedTo
  }

  /** The number of the event, null where it is new. */
  find(identity: Buffer): number | null {
    this.#load()
    for (let era = this.#filters.length - 1; era >= 0; era--) {
      const seq = this.#filters[era]?.mayHold(identity) === true ? this.#ask(this.#stretchesOf(era), identity) : null
      if (seq !== null) return seq
    }
    return null
  }

  /**
   * The same for who only reads, outside a transaction and without filters: asks every stretch of
   * the index.
   */
  search(identity: Buffer): number | null {
    const newest = this.#newest.get() ?? 0
    return this.#ask({ from: 0, to: Math.floor(newest / this.#counting.stretchRows) + 1 }, identity)
  }

  /** The number and the stretch of the next event, which is known from now on. */
  add(identity: Buffer): { seq: number; stretch: number } {
    this.#load()
    const seq = this.#filteredTo + 1
    this.#remember(seq, identity)
    return { seq, stretch: Math.floor(seq / this.#counting.stretchRows) }
  }

  #ask({ from, to }: { from: number; to: number }, identity: Buffer): number | null {
    for (let stretch = to - 1; stretch >= from; stretch--) {
      const seq = this.#find.get(stretch, identity)
      if (seq !== undefined) return seq
    }
    return null
  }

  #stretchesOf(era: number): { from: number; to: number } {
    const perEra = this.#counting.eraRows / this.#counting.stretchRows
    return { from: era * perEra, to: (era + 1) * perEra }
  }

  #eraOf(seq: number): number {
    return Math.floor(seq / this.#counting.eraRows)
  }

  #remember(seq: number, identity: Buffer): void {
    const era = this.#eraOf(seq)
    const finished = this.#filters[era - 1]
    if (finished && !this.#filters[era]) this.#saveFilter.run(era - 1, finished.toBytes())
    const filter = this.#filters[era] ?? new BloomFilter(this.#counting.eraRows)
    this.#filters[era] = filter
    filter.add(identity)
    this.#filteredTo = seq
  }

  #takeIn(): void {
    for (const { seq, identity } of this.#identitiesAfter.all(this.#filteredTo)) this.#remember(seq, identity)
  }

  /**
   * At the first event of a process. Finished eras have their filter in a row; the present one is
   * read anew.
   */
  #load(): void {
    if (this.#isLoaded) return
    this.#isLoaded = true
    const newest = this.#newest.get() ?? 0
    for (let era = 0; era <= this.#eraOf(newest); era++) {
      const saved = era < this.#eraOf(newest) ? this.#loadFilter.get(era) : undefined
      this.#filters.push(saved ? new BloomFilter(this.#counting.eraRows, saved) : this.#readEra(era))
    }
    this.#filteredTo = newest
    this.#committedTo = newest
  }

  #readEra(era: number): BloomFilter {
    const filter = new BloomFilter(this.#counting.eraRows)
    const { from, to } = this.#stretchesOf(era)
    for (const identity of this.#identitiesOf.iterate(from, to)) filter.add(identity)
    return filter
  }
}
