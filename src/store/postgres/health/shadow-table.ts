import { type KeptShadow, SHADOWS_KEPT } from '../../../core/store/health/shadows.ts'
import type { Connection } from '../database/connection.ts'

/** The differences of each shadow, which all processes share. */
export class ShadowTable {
  readonly #list
  readonly #insert
  readonly #update
  readonly #prune

  constructor(db: Connection) {
    // Index: primary key; a workflow has at most five rows.
    this.#list = db.prepare<[string], { code: string; book: string; version: number }>(
      'SELECT code, book, version FROM shadow_book WHERE workflow = ? ORDER BY since DESC, code',
    )
    this.#insert = db.prepare(
      `INSERT INTO shadow_book (workflow, code, since, book, version) VALUES (?, ?, ?, ?, 1)
      ON CONFLICT (workflow, code) DO NOTHING`,
    )
    this.#update = db.prepare(
      'UPDATE shadow_book SET book = ?, version = version + 1 WHERE workflow = ? AND code = ? AND version = ?',
    )
    this.#prune = db.prepare(
      `DELETE FROM shadow_book WHERE workflow = ? AND code NOT IN (
        SELECT code FROM shadow_book WHERE workflow = ? ORDER BY since DESC, code LIMIT ${SHADOWS_KEPT})`,
    )
  }

  async list(workflow: string): Promise<KeptShadow[]> {
    const rows = await this.#list.all(workflow)
    return rows.map(({ book, ...row }) => ({ ...row, book: JSON.parse(book) }))
  }

  /** A compare-and-set: false when the row no longer has this version; 0 means no row yet. */
  async save(workflow: string, { code, book, version }: KeptShadow): Promise<boolean> {
    const text = JSON.stringify(book)
    if (version > 0) return (await this.#update.run(text, workflow, code, version)).changes === 1
    if ((await this.#insert.run(workflow, code, book.since, text)).changes === 0) return false
    await this.#prune.run(workflow, workflow)
    return true
  }
}
