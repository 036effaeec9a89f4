import { chmodSync, existsSync, mkdirSync, statSync, writeFileSync } from 'node:fs'
import { dirname } from 'node:path'
import Database from 'better-sqlite3'
import { UpshotError } from '../../../core/errors.ts'
import { LOCK_WAIT_MS } from './group-commit.ts'
import { migrate } from './migrate.ts'
import { requireOwnLog } from './own-log.ts'
import { translateFault } from './storage-fault.ts'

/** Opens a database as `openDatabase` does, and migrates it. Throws `store_unavailable`. */
export function openMigrated(file: string): Database.Database {
  try {
    return prepare(openDatabase(file), (db) => {
      migrate(db)
      if (file === IN_MEMORY) image ??= db.serialize()
    })
  } catch (error) {
    throw translateFault(error, file)
  }
}

/** Milliseconds that a command waits for others to close the database. */
const ALONE_WAIT_MS = 1_000

/**
 * Opens a database file that no other process has open, and keeps all others out until it is
 * closed. Throws `conflict` beside one, even one that is asleep: its lock goes with its end.
 */
export function openAlone(file: string): Database.Database {
  try {
    return openDatabase(file, { isAlone: true })
  } catch (error) {
    if (!(error instanceof Error && 'code' in error && error.code === 'SQLITE_BUSY')) throw translateFault(error, file)
    throw new UpshotError('conflict', `Another process has the database ${file} open.`, {
      cause: error,
      details: { fix: `Stop every process of the app, and every command. To find them: fuser "${file}"` },
    })
  }
}

/** The name of a database that is in no file and ends with its connection. */
const IN_MEMORY = ':memory:'
/** The first one after its migration. Later ones begin as copies, which saves a testbed a fifth. */
let image: Buffer | undefined

/**
 * Opens a database file, or creates it, with the settings of all our connections. Throws
 * `store_unavailable` beside a log of another one.
 */
export function openDatabase(file: string, { isAlone = false } = {}): Database.Database {
  if (file !== IN_MEMORY) prepareFile(file)
  requireOwnLog(file)
  const db = new Database(file === IN_MEMORY ? (image ?? file) : file, {
    timeout: isAlone ? ALONE_WAIT_MS : LOCK_WAIT_MS,
  })
  return prepare(db, () => {
    // Before the first read, as the index of the log then needs no shared memory.
    if (isAlone) db.pragma('locking_mode = EXCLUSIVE')
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
  })
}

/** The same connection; closed where its preparation throws, as it would hold locks. */
function prepare(db: Database.Database, use: (db: Database.Database) => unknown): Database.Database {
  try {
    use(db)
    return db
  } catch (error) {
    db.close()
    throw error
  }
}

/** The owner alone may read the file. SQLite gives its log and index the same mode. */
function prepareFile(file: string): void {
  mkdirSync(dirname(file), { recursive: true, mode: 0o700 })
  if (!existsSync(file)) writeFileSync(file, '', { mode: 0o600, flag: 'a' })
  const isOurs = modeOf(file) === 0o600
  for (const each of [file, `${file}-wal`, `${file}-shm`]) {
    const mode = modeOf(each)
    // A log or index that SQLite made while the file was read-only stays so, and refuses writes.
    const isLeft = isOurs && mode === 0o400
    if (mode !== null && ((mode & 0o077) !== 0 || isLeft)) chmodSync(each, 0o600)
  }
}

/** The rights of a file; null where it is missing or another user's, who alone may change them. */
function modeOf(path: string): number | null {
  const found = statSync(path, { throwIfNoEntry: false })
  return found === undefined || found.uid !== process.getuid?.() ? null : found.mode & 0o777
}
