import { mkdtempSync, rmSync, statSync } from 'node:fs'
import { dirname, join } from 'node:path'
import Database from 'better-sqlite3'
import { PROCESS_SILENCE_MS } from '../../../core/store/process-record.ts'
import { LIVE_PROCESSES, type MigrationForecast } from '../../rows/database-report.ts'
import { listMissing, migrate, refuseMoved } from '../database/migrate.ts'

type Process = MigrationForecast['processes'][number]

/**
 * Says what a migration of a file would do, and changes nothing; the app may be running. Where
 * something is missing, a copy beside the file is migrated and deleted again.
 */
export async function foreseeMigration(file: string, now: number): Promise<MigrationForecast> {
  const db = new Database(file, { readonly: true, fileMustExist: true, timeout: 5_000 })
  try {
    refuseMoved(db)
    const { before, missing } = listMissing(db)
    const processes = before === 0 ? [] : db.prepare<[number], Process>(LIVE_PROCESSES).all(now - PROCESS_SILENCE_MS)
    const unfinished = before === 0 ? 0 : db.prepare<[], number>('SELECT count(*) FROM work').pluck().get()
    const tried = missing.length === 0 ? null : await tryOnCopy(db, dirname(file))
    return {
      before,
      after: before + missing.length,
      missing,
      processes,
      unfinished: unfinished ?? 0,
      tried,
      tables: [],
    }
  } finally {
    db.close()
  }
}

/** The folder is the database's own: a temporary one may be smaller, or open to others. */
async function tryOnCopy(db: Database.Database, parent: string): Promise<{ bytes: number; ms: number }> {
  const folder = mkdtempSync(join(parent, 'migration-'))
  try {
    const file = join(folder, 'copy.db')
    await db.backup(file)
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
