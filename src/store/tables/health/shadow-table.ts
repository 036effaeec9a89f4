import type { KeptShadow } from '../../../core/store/health/shadows.ts'
import type { Connection } from '../../connection.ts'
import { readShadow, SHADOW_SQL, type ShadowRow } from '../../rows/health/read-shadow.ts'

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
