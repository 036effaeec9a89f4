import type { Tag, Tags } from '../../../core/runs/told/tags.ts'
import type { Connection } from '../../connection.ts'

/** The tags of runs. Index: primary key, except where one is named. */
export class TagTable {
  readonly #save
  readonly #copy
  readonly #drop
  readonly #count

  constructor(db: Connection) {
    this.#save = db.prepare<[string, string]>(
      `INSERT INTO run_tag (run_id, name, value) SELECT ?, value ->> 0, value ->> 1 FROM ${db.sql.rows}
       WHERE true ON CONFLICT (run_id, name) DO UPDATE SET value = excluded.value`,
    )
    this.#copy = db.prepare<[string, string]>(
      'INSERT INTO run_tag (run_id, name, value) SELECT ?, name, value FROM run_tag WHERE run_id = ?',
    )
    this.#drop = db.prepare<[string]>('DELETE FROM run_tag WHERE run_id = ?')
    // Index: run_tag_value.
    this.#count = db
      .prepare<[string, string, number], number>(
        'SELECT count(*) FROM (SELECT 1 FROM run_tag WHERE name = ? AND value = ? LIMIT ?) AS few',
      )
      .pluck()
  }

  async save(runId: string, tags: Tags): Promise<void> {
    const rows = Object.entries(tags)
    if (rows.length > 0) await this.#save.run(runId, JSON.stringify(rows))
  }

  /** A run that is made from another one has its tags. */
  async copy(from: string, to: string): Promise<void> {
    await this.#copy.run(to, from)
  }

  async drop(runId: string): Promise<void> {
    await this.#drop.run(runId)
  }

  /** The number of runs with a tag, counted up to `most`. */
  async count([name, value]: Tag, most: number): Promise<number> {
    return (await this.#count.get(name, value, most)) ?? 0
  }
}
