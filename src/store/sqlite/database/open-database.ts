import { chmodSync, existsSync, mkdirSync, statSync, writeFileSync } from 'node:fs'
import { dirname } from 'node:path'
import Database from 'better-sqlite3'
import { LOCK_WAIT_MS } from './group-commit.ts'
import { migrate } from './migrate.ts'
import { translateFault } from './storage-fault.ts'

/** Opens a database as `openDatabase` does, and migrates it. Throws `store_unavailable`. */
export function openMigrated(file: string): Database.Database {
  try {
    const db = openDatabase(file)
    migrate(db)
    return db
  } catch (error) {
    throw translateFault(error, file)
  }
}

/** The name of a database that is in no file and ends with its connection. */
const IN_MEMORY = ':memory:'

/** Opens a database file, or creates it, with the settings of all our connections. */
export function openDatabase(file: string): Database.Database {
  if (file !== IN_MEMORY) prepareFile(file)
  const db = new Database(file, { timeout: LOCK_WAIT_MS })
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

/** The owner alone may read the file. SQLite gives its log and index the same mode. */
function prepareFile(file: string): void {
  mkdirSync(dirname(file), { recursive: true, mode: 0o700 })
  if (!existsSync(file)) writeFileSync(file, '', { mode: 0o600, flag: 'a' })
  for (const each of [file, `${file}-wal`, `${file}-shm`]) {
    const found = statSync(each, { throwIfNoEntry: false })
    // Only its owner may change the rights; a file of another user stays as it is.
    const isOpen = found !== undefined && found.uid === process.getuid?.() && (found.mode & 0o077) !== 0
    if (isOpen) chmodSync(each, 0o600)
  }
}
