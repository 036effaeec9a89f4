import type { Statement } from 'better-sqlite3'
import type { Db } from './database.ts'

const prepared = new WeakMap<Db, Map<string, Statement<unknown[]>>>()

/**
 * The statement of this text, prepared once per database. For constant texts only, because all are
 * kept.
 */
export function statement<Parameters extends unknown[] = unknown[], Row = unknown>(
  db: Db,
  sql: string,
): Statement<Parameters, Row> {
  const known = prepared.get(db) ?? new Map<string, Statement<unknown[]>>()
  prepared.set(db, known)
  const found = known.get(sql) ?? db.prepare(sql)
  known.set(sql, found)
  return found as unknown as Statement<Parameters, Row>
}

/** Runs `work` in the open transaction, or in one of its own. */
export function atomically<Result>(db: Db, work: () => Result): Result {
  return db.inTransaction ? work() : db.transaction(work)()
}
