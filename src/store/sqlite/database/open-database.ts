import { mkdirSync } from 'node:fs'
import { dirname } from 'node:path'
import Database from 'better-sqlite3'

/**
 * Opens a database file (made when it is missing) with the settings that every connection of ours
 * has.
 */
export function openDatabase(file: string): Database.Database {
  mkdirSync(dirname(file), { recursive: true })
  const db = new Database(file, { timeout: 5_000 })
  // Taken by a new file only, before anything else is said. The rows of all runs at work lie close
  // together, and every commit writes most of their pages again: fewer and larger ones take fewer
  // calls. The log is begun anew at four megabytes, as it always was.
  db.pragma('page_size = 8192')
  db.pragma('journal_mode = WAL')
  db.pragma('wal_autocheckpoint = 500')
  // FULL: a commit is answered only when it is on disk. Everything else here is about speed and
  // loosens nothing.
  db.pragma('synchronous = FULL')
  db.pragma('foreign_keys = ON')
  db.pragma('temp_store = MEMORY')
  // No larger: a commit that gave a page of a tree another number walks the whole cache, and the
  // pages at work are few.
  db.pragma('cache_size = -4000')
  return db
}
