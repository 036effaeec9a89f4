import type { AlertBook } from '../../../core/alerts/alert-book.ts'
import type { KeptBook } from '../../../core/store/health/alerts.ts'
import type { Connection } from '../../connection.ts'

/** The memory of each alert rule, which all processes share. */
export class AlertTable {
  readonly #load
  readonly #insert
  readonly #update
  readonly #keep

  constructor(db: Connection) {
    // Index: primary key.
    this.#load = db.prepare<[string], { book: string; version: number }>(
      'SELECT book, version FROM alert_book WHERE rule = ?',
    )
    this.#insert = db.prepare(
      'INSERT INTO alert_book (rule, book, version) VALUES (?, ?, 1) ON CONFLICT (rule) DO NOTHING',
    )
    this.#update = db.prepare('UPDATE alert_book SET book = ?, version = version + 1 WHERE rule = ? AND version = ?')
    this.#keep = db.prepare(`DELETE FROM alert_book WHERE NOT ${db.sql.isOneOf('rule', 'text')}`)
  }

  async load(rule: string): Promise<KeptBook | null> {
    const row = await this.#load.get(rule)
    return row === undefined ? null : { book: JSON.parse(row.book), version: row.version }
  }

  /** A compare-and-set: false when the row no longer has this version; 0 means no row yet. */
  async save(rule: string, book: AlertBook, version: number): Promise<boolean> {
    const text = JSON.stringify(book)
    const written = version === 0 ? await this.#insert.run(rule, text) : await this.#update.run(text, rule, version)
    return written.changes === 1
  }

  /** Removes the books of all other rules. */
  async keep(rules: readonly string[]): Promise<void> {
    await this.#keep.run([...rules])
  }
}
