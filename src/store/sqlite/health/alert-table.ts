import type { Database } from 'better-sqlite3'
import type { AlertBook } from '../../../core/alerts/alert-book.ts'
import type { KeptBook } from '../../../core/store/health/alerts.ts'

/** The memory of each alert rule, which all processes share. */
export class AlertTable {
  readonly #load
  readonly #insert
  readonly #update
  readonly #keep

  constructor(db: Database) {
    // Index: primary key.
    this.#load = db.prepare<[string], { book: string; version: number }>(
      'SELECT book, version FROM alert_book WHERE rule = ?',
    )
    this.#insert = db.prepare(
      'INSERT INTO alert_book (rule, book, version) VALUES (?, ?, 1) ON CONFLICT (rule) DO NOTHING',
    )
    this.#update = db.prepare('UPDATE alert_book SET book = ?, version = version + 1 WHERE rule = ? AND version = ?')
    this.#keep = db.prepare('DELETE FROM alert_book WHERE rule NOT IN (SELECT value FROM json_each(?))')
  }

  load(rule: string): KeptBook | null {
    const row = this.#load.get(rule)
    return row === undefined ? null : { book: JSON.parse(row.book), version: row.version }
  }

  /** A compare-and-set: false when the row no longer has this version; 0 means no row yet. */
  save(rule: string, book: AlertBook, version: number): boolean {
    const text = JSON.stringify(book)
    const written = version === 0 ? this.#insert.run(rule, text) : this.#update.run(text, rule, version)
    return written.changes === 1
  }

  /** Removes the books of all other rules. */
  keep(rules: readonly string[]): void {
    this.#keep.run(JSON.stringify(rules))
  }
}
