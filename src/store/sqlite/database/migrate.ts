import { mkdtempSync, rmSync, statSync } from 'node:fs'
import { dirname, join } from 'node:path'
import Database from 'better-sqlite3'
import { UpshotError } from '../../../core/errors.ts'
import { PROCESS_SILENCE_MS } from '../../../core/store/process-record.ts'
import { LIVE_PROCESSES, type MigrationForecast } from '../../rows/database-report.ts'
import { readMigrations } from '../../schema/read-migrations.ts'
import { removeLeft } from './remove-left.ts'

const migrations = readMigrations('sqlite')

/** The schema version of this Upshot: the number of its migrations. */
export function latestSchema(): number {
  return migrations.length
}

/** The migrations that a database lacks, by name. Throws `invalid_config` for a newer one. */
function listMissing(db: Database.Database): { before: number; missing: string[] } {
  const before = Number(db.pragma('user_version', { simple: true }))
  refuseNewer(before)
  return { before, missing: migrations.slice(before).map(({ name }) => name) }
}

/** Throws `invalid_config` unless a database, which must not be changed, has this schema. */
export function requireLatest(db: Database.Database): void {
  const { before, missing } = listMissing(db)
  if (missing.length === 0) return
  throw new UpshotError(
    'invalid_config',
    `The database has schema ${before}, and this Upshot reads ${migrations.length}.`,
    {
      details: {
        fix: 'Migrate it first: "upshot db migrate". A backup: in a folder of its own, with UPSHOT_DATA_DIR.',
      },
    },
  )
}

function refuseNewer(found: number): void {
  if (found <= migrations.length) return
  throw new UpshotError(
    'invalid_config',
    `The database has schema ${found}, and this Upshot only knows ${migrations.length}.`,
    {
      details: { fix: 'Start the newer Upshot. The only way back is a backup from before its first start.' },
    },
  )
}

/**
 * Runs the numbered migrations that the database lacks, in one transaction; two processes may do so
 * at once. Gives the numbers of the schema. Throws `invalid_config` for one of a newer Upshot.
 */
export function migrate(db: Database.Database): { before: number; after: number } {
  const upgrade = db.transaction(() => {
    refuseMoved(db)
    const { before, missing } = listMissing(db)
    for (const { sql } of migrations.slice(before)) db.exec(sql)
    // SQLite writes a page even for the same number, and a full disk has no room for one.
    if (missing.length > 0) db.pragma(`user_version = ${migrations.length}`)
    return { before, after: migrations.length }
  })
  return upgrade.immediate()
}

/** Columns of the tables that the migrations make, such as `run.id`. */
export function knownColumns(): string[] {
  const db = new Database(':memory:')
  try {
    migrate(db)
    return listColumns(db)
  } finally {
    db.close()
  }
}

/** The same of a database. */
export function listColumns(db: Database.Database): string[] {
  return db
    .prepare<[], string>(
      `SELECT m.name || '.' || c.name FROM sqlite_schema m, pragma_table_info(m.name) c
       WHERE m.type = 'table' AND m.name NOT LIKE 'sqlite_%' ORDER BY m.name, c.cid`,
    )
    .pluck()
    .all()
}

/** The mark of a database whose rows are in PostgreSQL now. */
export interface Moved {
  id: string
  /** Host, database and schema. */
  place: string
}

/** Null for a database that is in use. */
export function readMoved(db: Database.Database): Moved | null {
  const isMarked = db.prepare(`SELECT 1 FROM sqlite_schema WHERE type = 'table' AND name = 'moved'`).get()
  return isMarked === undefined ? null : (db.prepare<[], Moved>('SELECT id, place FROM moved').get() ?? null)
}

/** Throws `invalid_config` for a database that was moved: events in it would be lost. */
export function refuseMoved(db: Database.Database): void {
  const moved = readMoved(db)
  if (moved === null) return
  throw new UpshotError('invalid_config', `The database file was moved to PostgreSQL: ${moved.place}.`, {
    details: { fix: 'Name that database with UPSHOT_DATABASE_URL.' },
  })
}

type Process = MigrationForecast['processes'][number]

/**
 * Says what a migration of a file would do, and changes nothing; the app may be running. Where
 * something is missing, a copy beside the file is migrated and deleted again, also once `signal`
 * aborts.
 */
export async function foreseeMigration(file: string, now: number, signal?: AbortSignal): Promise<MigrationForecast> {
  const db = new Database(file, { readonly: true, fileMustExist: true, timeout: 5_000 })
  try {
    refuseMoved(db)
    const { before, missing } = listMissing(db)
    const processes = before === 0 ? [] : db.prepare<[number], Process>(LIVE_PROCESSES).all(now - PROCESS_SILENCE_MS)
    const unfinished = before === 0 ? 0 : db.prepare<[], number>('SELECT count(*) FROM work').pluck().get()
    const tried = missing.length === 0 ? null : await tryOnCopy(db, dirname(file), signal)
    return {
      before,
      after: before + missing.length,
      missing,
      misled: [],
      processes,
      unfinished: unfinished ?? 0,
      tried,
      tables: [],
    }
  } finally {
    db.close()
  }
}

/** Pages of the copy per step: few, so that the process reacts to Ctrl-C at once. */
const STEP_PAGES = 128

/** The folder is the database's own: a temporary one may be smaller, or open to others. */
async function tryOnCopy(
  db: Database.Database,
  parent: string,
  signal?: AbortSignal,
): Promise<{ bytes: number; ms: number }> {
  const folder = mkdtempSync(join(parent, 'upshot-dry-run-'))
  try {
    removeLeft(folder, /^upshot-dry-run-\w{6}$/)
    const file = join(folder, 'copy.db')
    // A read pins the snapshot. Without it, each commit of the app restarts the copy.
    db.exec('BEGIN')
    listMissing(db)
    const progress = () => {
      signal?.throwIfAborted()
      return STEP_PAGES
    }
    await db.backup(file, { progress })
    db.exec('COMMIT')
    signal?.throwIfAborted()
    const copy = new Database(file)
    const begun = performance.now()
    migrate(copy)
    const ms = performance.now() - begun
    copy.close()
    return { bytes: statSync(file).size, ms }
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}
