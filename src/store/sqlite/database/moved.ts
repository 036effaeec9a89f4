import type { Database } from 'better-sqlite3'
import { UpshotError } from '../../../core/errors.ts'

/** The mark of a database whose rows are in PostgreSQL now. */
export interface Moved {
  id: string
  /** Host, database and schema. */
  place: string
}

/** Null for a database that is in use. */
export function readMoved(db: Database): Moved | null {
  const isMarked = db.prepare(`SELECT 1 FROM sqlite_schema WHERE type = 'table' AND name = 'moved'`).get()
  return isMarked === undefined ? null : (db.prepare<[], Moved>('SELECT id, place FROM moved').get() ?? null)
}

/** Throws `invalid_config` for a database that was moved: events in it would be lost. */
export function refuseMoved(db: Database): void {
  const moved = readMoved(db)
  if (moved === null) return
  throw new UpshotError('invalid_config', `The database file was moved to PostgreSQL: ${moved.place}.`, {
    details: { fix: 'Name that database with UPSHOT_DATABASE_URL.' },
  })
}
