import type { AlertBook } from '../../../core/alerts/alert-book.ts'
import type { ShapeBook } from '../../../core/service/shapes/shape-book.ts'
import { type Connection, Table } from '../../connection.ts'

/** Texts that all processes share; each is replaced by compare-and-set. */
export class BookTable extends Table {
  readonly #alerts = openTexts(this.db, { table: 'alert_book', key: 'rule', text: 'book' })
  /** The outlines of all event types, in one row. */
  readonly #shapes = openTexts(this.db, { table: 'shape_book', key: 'id', text: 'book' })
  /** The limiter's state that processes with the same API key share, by the hash of the key. */
  readonly #limits = openTexts(this.db, { table: 'key_limit', key: 'key', text: 'state' })

  /** The book of a rule, and a number that rises with each change; null when there is none yet. */
  async loadAlertBook(rule: string): Promise<{ book: AlertBook; version: number } | null> {
    return readBook(await this.#alerts.load(rule))
  }

  /**
   * Compare-and-set: replaces the book of `version`; false when another process was first. A rule
   * without a book has version 0.
   */
  saveAlertBook(rule: string, book: AlertBook, version: number): Promise<boolean> {
    return this.#alerts.save(rule, JSON.stringify(book), version)
  }

  /** Removes the books of all rules but these. */
  readonly keepAlertBooks = this.write<[rules: readonly string[]]>(
    `DELETE FROM alert_book WHERE NOT ${this.db.sql.isOneOf('rule', 'text')}`,
  )

  /** The book of all types, and a number that rises with each change; null: there is none yet. */
  async loadShapeBook(): Promise<{ book: ShapeBook; version: number } | null> {
    return readBook(await this.#shapes.load(1))
  }

  /** Compare-and-set: replaces the book of `version`, 0 for none; false when another was first. */
  saveShapeBook(book: ShapeBook, version: number): Promise<boolean> {
    return this.#shapes.save(1, JSON.stringify(book), version)
  }

  /**
   * The state shared by all processes that use an API key; `key` is its hash. Null when there is
   * none yet. Its version rises with each change. See decision 22.
   */
  async loadLimit(key: string): Promise<{ state: string; version: number } | null> {
    const row = await this.#limits.load(key)
    return row && { state: row.text, version: row.version }
  }

  /** The state of every key. No index: there are as many as keys. */
  readonly listLimits = this.readRows<[], { key: string; state: string }>('SELECT key, state FROM key_limit')

  /**
   * Compare-and-set: replaces the state of `version`; false when another process was first. A key
   * without state has version 0.
   */
  saveLimit(key: string, state: string, version: number): Promise<boolean> {
    return this.#limits.save(key, state, version)
  }
}

interface Versioned {
  text: string
  version: number
}

/** Texts by a key. Index: primary key. */
export function openTexts(db: Connection, { table, key, text }: { table: string; key: string; text: string }) {
  const select = db.prepare<[string | number], Versioned>(
    `SELECT ${text} AS text, version FROM ${table} WHERE ${key} = ?`,
  )
  const insert = db.prepare<[string | number, string]>(
    `INSERT INTO ${table} (${key}, ${text}, version) VALUES (?, ?, 1) ON CONFLICT (${key}) DO NOTHING`,
  )
  const update = db.prepare<[string, string | number, number]>(
    `UPDATE ${table} SET ${text} = ?, version = version + 1 WHERE ${key} = ? AND version = ?`,
  )
  return {
    load: async (id: string | number): Promise<Versioned | null> => (await select.get(id)) ?? null,
    async save(id: string | number, value: string, version: number): Promise<boolean> {
      return (await (version === 0 ? insert.run(id, value) : update.run(value, id, version))).changes === 1
    },
  }
}

export function readBook<Book>(row: Versioned | null): { book: Book; version: number } | null {
  return row && { book: JSON.parse(row.text), version: row.version }
}
