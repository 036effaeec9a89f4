import type { AlertBook } from '../../../core/alerts/alert-book.ts'
import { Table } from '../../connection.ts'

/** The book of a rule, and a number that rises with each change of it. */
interface KeptBook {
  book: AlertBook
  version: number
}

/** The memory of each alert rule, which all processes share. */
export class AlertTable extends Table {
  // Index: primary key.
  readonly #load = this.db.prepare<[string], { book: string; version: number }>(
    'SELECT book, version FROM alert_book WHERE rule = ?',
  )
  readonly #insert = this.db.prepare(
    'INSERT INTO alert_book (rule, book, version) VALUES (?, ?, 1) ON CONFLICT (rule) DO NOTHING',
  )
  readonly #update = this.db.prepare(
    'UPDATE alert_book SET book = ?, version = version + 1 WHERE rule = ? AND version = ?',
  )
  readonly #keep = this.db.prepare(`DELETE FROM alert_book WHERE NOT ${this.db.sql.isOneOf('rule', 'text')}`)

  /** Null when there is none yet. */
  async loadAlertBook(rule: string): Promise<KeptBook | null> {
    const row = await this.#load.get(rule)
    return row === undefined ? null : { book: JSON.parse(row.book), version: row.version }
  }

  /**
   * Compare-and-set: replaces the book of `version`; false when another process was first. A rule
   * without a book has version 0.
   */
  async saveAlertBook(rule: string, book: AlertBook, version: number): Promise<boolean> {
    const text = JSON.stringify(book)
    const written = version === 0 ? await this.#insert.run(rule, text) : await this.#update.run(text, rule, version)
    return written.changes === 1
  }

  /** Removes the books of all rules but these. */
  async keepAlertBooks(rules: readonly string[]): Promise<void> {
    await this.#keep.run([...rules])
  }
}
