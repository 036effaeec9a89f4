import { mkdirSync } from 'node:fs'
import { dirname } from 'node:path'
import Database from 'better-sqlite3'

/** Opens a database file (made when it is missing) with the settings that every connection of ours has. */
export function openDatabase(file: string): Database.Database {
  mkdirSync(dirname(file), { recursive: true })
  const db = new Database(file, { timeout: 5_000 })
  db.pragma('journal_mode = WAL')
  // FULL: a commit is answered only when it is on disk. Everything else here is about speed and loosens nothing.
  db.pragma('synchronous = FULL')
  db.pragma('foreign_keys = ON')
  db.pragma('temp_store = MEMORY')
  // No larger: each commit walks the cache's table, whose size this sets.
  db.pragma('cache_size = -16000')
  return db
}
