import { mkdirSync } from 'node:fs'
import { dirname } from 'node:path'
import Database from 'better-sqlite3'

/** Opens a database file, or creates it, with the settings of all our connections. */
export function openDatabase(file: string): Database.Database {
  mkdirSync(dirname(file), { recursive: true })
  const db = new Database(file, { timeout: 5_000 })
  // Only a new file takes the page size, so it comes first. Every commit writes most pages of the
  // runs at work, and fewer, larger pages take fewer calls.
  db.pragma('page_size = 8192')
  db.pragma('journal_mode = WAL')
  // Pages: a checkpoint every 4 MB of log.
  db.pragma('wal_autocheckpoint = 500')
  // FULL: a commit returns only once it is on disk. The other settings only affect speed.
  db.pragma('synchronous = FULL')
  db.pragma('foreign_keys = ON')
  db.pragma('temp_store = MEMORY')
  // KiB. Kept small: a commit that renumbers a B-tree page scans the whole cache.
  db.pragma('cache_size = -4000')
  return db
}
