import type { ShapeBook } from '../../../core/service/shapes/shape-book.ts'
import { Table } from '../../connection.ts'

/** The book of all types, and a number that rises with each change of it. */
interface KeptShapes {
  book: ShapeBook
  version: number
}

/** The outlines of all event types, in one row. */
export class ShapeTable extends Table {
  readonly #load = this.db.prepare<[], { book: string; version: number }>('SELECT book, version FROM shape_book')
  readonly #insert = this.db.prepare(
    'INSERT INTO shape_book (id, book, version) VALUES (1, ?, 1) ON CONFLICT (id) DO NOTHING',
  )
  readonly #update = this.db.prepare('UPDATE shape_book SET book = ?, version = version + 1 WHERE version = ?')

  /** Null when there is none yet. */
  async loadShapeBook(): Promise<KeptShapes | null> {
    const row = await this.#load.get()
    return row === undefined ? null : { book: JSON.parse(row.book), version: row.version }
  }

  /** Compare-and-set: replaces the book of `version`, 0 for none; false when another was first. */
  async saveShapeBook(book: ShapeBook, version: number): Promise<boolean> {
    const text = JSON.stringify(book)
    const written = version === 0 ? await this.#insert.run(text) : await this.#update.run(text, version)
    return written.changes === 1
  }
}
