import type { AlertBook } from '../../../core/alerts/alert-book.ts'
import type { ShapeBook } from '../../../core/service/shapes/shape-book.ts'
import { type Connection, Table } from '../../connection.ts'

/** Texts that all processes share; each is replaced by compare-and-set. */
export class BookTable extends Table {
  readonly #alerts = prepareTexts(this.db, { table: 'alert_book', key: 'rule', text: 'book' })
  /** The outlines of all event types, in one row. */
  readonly #shapes = prepareTexts(this.db, { table: 'shape_book', key: 'id', text: 'book' })
  /** The limiter's state that processes with the same API key share, by the hash of the key. */
  readonly #limits = prepareTexts(this.db, { table: 'key_limit', key: 'key', text: 'state' })
  readonly #keepAlerts = this.db.prepare(`DELETE FROM alert_book WHERE NOT ${this.db.sql.isOneOf('rule', 'text')}`)

  /** The book of a rule, and a number that rises with each change; null when there is none yet. */
  async loadAlertBook(rule: string): Promise<{ book: AlertBook; version: number } | null> {
    const row = await this.#alerts.load.get(rule)
    return row === undefined ? null : { book: JSON.parse(row.text), version: row.version }
  }

  /**
   * Compare-and-set: replaces the book of `version`; false when another process was first. A rule
   * without a book has version 0.
   */
  saveAlertBook(rule: string, book: AlertBook, version: number): Promise<boolean> {
    return save(this.#alerts, rule, JSON.stringify(book), version)
  }

  /** Removes the books of all rules but these. */
  async keepAlertBooks(rules: readonly string[]): Promise<void> {
    await this.#keepAlerts.run([...rules])
  }

  /** The book of all types, and a number that rises with each change; null: there is none yet. */
  async loadShapeBook(): Promise<{ book: ShapeBook; version: number } | null> {
    const row = await this.#shapes.load.get(1)
    return row === undefined ? null : { book: JSON.parse(row.text), version: row.version }
  }

  /** Compare-and-set: replaces the book of `version`, 0 for none; false when another was first. */
  saveShapeBook(book: ShapeBook, version: number): Promise<boolean> {
    return save(this.#shapes, 1, JSON.stringify(book), version)
  }

  /**
   * The state shared by all processes that use an API key; `key` is its hash. Null when there is
   * none yet. Its version rises with each change. See decision 22.
   */
  async loadLimit(key: string): Promise<{ state: string; version: number } | null> {
    const row = await this.#limits.load.get(key)
    return row === undefined ? null : { state: row.text, version: row.version }
  }

  /**
   * Compare-and-set: replaces the state of `version`; false when another process was first. A key
   * without state has version 0.
   */
  saveLimit(key: string, state: string, version: number): Promise<boolean> {
    return save(this.#limits, key, state, version)
  }
}

type Texts = ReturnType<typeof prepareTexts>

/** Index: primary key. */
function prepareTexts(db: Connection, { table, key, text }: { table: string; key: string; text: string }) {
  return {
    load: db.prepare<[string | number], { text: string; version: number }>(
      `SELECT ${text} AS text, version FROM ${table} WHERE ${key} = ?`,
    ),
    insert: db.prepare<[string | number, string]>(
      `INSERT INTO ${table} (${key}, ${text}, version) VALUES (?, ?, 1) ON CONFLICT (${key}) DO NOTHING`,
    ),
    update: db.prepare<[string, string | number, number]>(
      `UPDATE ${table} SET ${text} = ?, version = version + 1 WHERE ${key} = ? AND version = ?`,
    ),
  }
}

async function save(texts: Texts, key: string | number, text: string, version: number): Promise<boolean> {
  const written = version === 0 ? texts.insert.run(key, text) : texts.update.run(text, key, version)
  return (await written).changes === 1
}
