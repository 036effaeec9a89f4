import { type KeptShadow, SHADOWS_KEPT } from '../../../core/store/health/shadows.ts'
import type { Connection } from '../../connection.ts'

type ShadowRow = Pick<KeptShadow, 'code' | 'version'> & { book: string }

/** Of differences. Index: primary key; a workflow has at most five rows. */
const SHADOW_SQL = {
  list: 'SELECT code, book, version FROM shadow_book WHERE workflow = ? ORDER BY since DESC, code',
  insert: `INSERT INTO shadow_book (workflow, code, since, book, version) VALUES (?, ?, ?, ?, 1)
    ON CONFLICT (workflow, code) DO NOTHING`,
  update: 'UPDATE shadow_book SET book = ?, version = version + 1 WHERE workflow = ? AND code = ? AND version = ?',
  prune: `DELETE FROM shadow_book WHERE workflow = ? AND code NOT IN (
    SELECT code FROM shadow_book WHERE workflow = ? ORDER BY since DESC, code LIMIT ${SHADOWS_KEPT})`,
} as const

function readShadow({ book, ...row }: ShadowRow): KeptShadow {
  return { ...row, book: JSON.parse(book) }
}

/** The differences of each shadow, which all processes share. */
export class ShadowTable {
  readonly #list
  readonly #insert
  readonly #update
  readonly #prune

  constructor(db: Connection) {
    this.#list = db.prepare<[string], ShadowRow>(SHADOW_SQL.list)
    this.#insert = db.prepare(SHADOW_SQL.insert)
    this.#update = db.prepare(SHADOW_SQL.update)
    this.#prune = db.prepare(SHADOW_SQL.prune)
  }

  async list(workflow: string): Promise<KeptShadow[]> {
    return (await this.#list.all(workflow)).map(readShadow)
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
