import type { Connection } from '../connection.ts'
import { afterAll } from '../rows/build-where.ts'

/** Gives ids that begin so, oldest first. Index: primary key. */
export function prepareIds(db: Connection, table: 'approval' | 'delivery' | 'run') {
  const ids = db.pluck<[string, string, number], string>(
    `SELECT id FROM ${table} WHERE id >= ? AND id < ? ORDER BY id LIMIT ?`,
  )
  return (beginning: string, limit: number): Promise<string[]> => ids.all(beginning, afterAll(beginning), limit)
}
