import { randomUUID } from 'node:crypto'
import { closeSync, existsSync, linkSync, openSync, renameSync, rmSync, statSync } from 'node:fs'
import { dirname } from 'node:path'
import Database from 'better-sqlite3'
import { UpshotError } from '../../../core/errors.ts'
import type { DatabaseReport } from '../../rows/database-report.ts'
import { syncFile } from '../../vault.ts'
import { removeLeft } from '../database/remove-left.ts'
import { countRows, verifyDatabase } from './verify-database.ts'

export interface Backup extends DatabaseReport {
  bytes: number
}

/** Pages per step: few, so that the process reacts to Ctrl-C at once. */
const STEP_PAGES = 128

/**
 * Copies one snapshot of the database, also beside a running app, and verifies the copy. Throws
 * `conflict` if the file exists, `store_unavailable` where `to` takes no copy, or for a bad one. No
 * copy is left then. Parts of backups that were killed go from the folder once they are a day old.
 */
export async function backupDatabase(
  file: string,
  to: string,
  { onProgress, signal }: { onProgress: (part: { done: number; total: number }) => void; signal: AbortSignal },
): Promise<Backup> {
  refuseTaken(to)
  const part = partOf(to)
  try {
    // Created here and not by SQLite, so that only its owner can read it.
    closeSync(openSync(part, 'wx', 0o600))
    removeOldParts(part)
    const rows = await copy(file, part, { onProgress, signal })
    const report = verifyDatabase(part)
    const isComplete = JSON.stringify(report.rows) === JSON.stringify(rows)
    if (!report.passed || !isComplete) throw refuseCopy(report, isComplete)
    syncFile(part)
    publishBackup(part, to)
    return { ...report, file: to, bytes: statSync(to).size }
  } catch (cause) {
    if (signal.aborted) throw cause
    throw describeNoBackup(to, cause)
  } finally {
    for (const ending of ['', '-wal', '-shm', '-journal']) rmSync(`${part}${ending}`, { force: true })
  }
}

/** The file that becomes a backup. Its name is none of a download. */
export function partOf(to: string): string {
  return `${to}.${randomUUID()}.backup.part`
}

/** Removes what backups that were killed left in the folder of `part`, which is new. */
export function removeOldParts(part: string): void {
  removeLeft(part, /\.[0-9a-f-]{36}\.backup\.part(-\w+)?$/)
}

/** Returns the row counts of the copied snapshot. */
async function copy(
  file: string,
  part: string,
  { onProgress, signal }: { onProgress: (part: { done: number; total: number }) => void; signal: AbortSignal },
): Promise<Record<string, number>> {
  const source = new Database(file, { readonly: true, fileMustExist: true, timeout: 5_000 })
  try {
    // The read transaction pins the snapshot. Without it, each commit of the app restarts the copy.
    source.exec('BEGIN')
    const rows = countRows(source)
    await source.backup(part, {
      progress({ totalPages, remainingPages }) {
        signal.throwIfAborted()
        onProgress({ done: totalPages - remainingPages, total: totalPages })
        return STEP_PAGES
      },
    })
    source.exec('COMMIT')
    makeSingleFile(part)
    return rows
  } finally {
    source.close()
  }
}

/** Turns WAL mode off, so that the backup is one file without a log beside it. */
function makeSingleFile(part: string): void {
  const copy = new Database(part)
  copy.pragma('journal_mode = DELETE')
  copy.close()
}

/** Gives the copy its name. Throws `conflict` if another file took it meanwhile. */
export function publishBackup(part: string, to: string): void {
  try {
    linkSync(part, to)
  } catch {
    refuseTaken(to)
    // Not every file system has links.
    renameSync(part, to)
  }
  syncFile(dirname(to))
}

/** A fault of the place that a backup goes to, in words; errors of ours stay as they are. */
export function describeNoBackup(to: string, cause: unknown): UpshotError {
  if (cause instanceof UpshotError) return cause
  const why = cause instanceof Error ? cause.message : String(cause)
  return new UpshotError('store_unavailable', `No backup was made at ${to}: ${why}.`, {
    cause,
    details: { fix: 'Name a place that has room and that you may write to.' },
  })
}

function refuseTaken(to: string): void {
  const folder = statSync(dirname(to), { throwIfNoEntry: false })
  if (!folder?.isDirectory()) throw new UpshotError('not_found', `There is no folder ${dirname(to)}.`)
  if (!existsSync(to)) return
  throw new UpshotError('conflict', `There is already a file ${to}, and a backup overwrites nothing.`, {
    details: { fix: 'Name a file that does not exist yet.' },
  })
}

function refuseCopy({ checks }: DatabaseReport, isComplete: boolean): UpshotError {
  const faults = checks.filter(({ passed }) => !passed).map(({ name, found }) => `${name}: ${found}`)
  if (!isComplete) faults.push('it has other rows than the database')
  return new UpshotError('store_unavailable', `The copy is not sound (${faults.join('; ')}). No backup was made.`, {
    details: { fix: 'See what is wrong with the database itself: upshot db verify.' },
  })
}
