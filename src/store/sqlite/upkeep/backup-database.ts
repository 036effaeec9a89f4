import { randomUUID } from 'node:crypto'
import { closeSync, existsSync, linkSync, openSync, rmSync, statSync } from 'node:fs'
import { dirname } from 'node:path'
import Database from 'better-sqlite3'
import { UpshotError } from '../../../core/errors.ts'
import { syncFile } from '../../sync-file.ts'
import { countRows, type DatabaseReport, verifyDatabase } from './verify-database.ts'

export interface Backup extends DatabaseReport {
  bytes: number
}

/** Pages per step: small enough that the process answers a Ctrl-C at once. */
const PAGES_AT_ONCE = 128

/**
 * Copies the database as it is at one moment, beside a running app, and checks the copy before it
 * gets its name. Throws `conflict` where there is such a file already, `store_unavailable` for a
 * copy that is not sound; then nothing is left.
 */
export async function backupDatabase(
  file: string,
  to: string,
  { onProgress, signal }: { onProgress: (part: { done: number; total: number }) => void; signal: AbortSignal },
): Promise<Backup> {
  refuseTaken(to)
  const part = `${to}.${randomUUID()}.part`
  // Made by us, not by SQLite, so that nobody else can read it while it grows.
  closeSync(openSync(part, 'wx', 0o600))
  try {
    const rows = await copy(file, part, { onProgress, signal })
    const report = verifyDatabase(part)
    const isComplete = JSON.stringify(report.rows) === JSON.stringify(rows)
    if (!report.passed || !isComplete) throw refuseCopy(report, isComplete)
    syncFile(part)
    publish(part, to)
    return { ...report, file: to, bytes: statSync(to).size }
  } finally {
    for (const ending of ['', '-wal', '-shm', '-journal']) rmSync(`${part}${ending}`, { force: true })
  }
}

/** Gives the rows of what was copied, counted within the same snapshot. */
async function copy(
  file: string,
  part: string,
  { onProgress, signal }: { onProgress: (part: { done: number; total: number }) => void; signal: AbortSignal },
): Promise<Record<string, number>> {
  const source = new Database(file, { readonly: true, fileMustExist: true, timeout: 5_000 })
  try {
    // An open read keeps the copy to one moment. Without it every commit of the app would start the
    // copy over, for ever under load.
    source.exec('BEGIN')
    const rows = countRows(source)
    await source.backup(part, {
      progress({ totalPages, remainingPages }) {
        signal.throwIfAborted()
        onProgress({ done: totalPages - remainingPages, total: totalPages })
        return PAGES_AT_ONCE
      },
    })
    source.exec('COMMIT')
    makeSingleFile(part)
    return rows
  } finally {
    source.close()
  }
}

/** A backup is one file: without this it would come with a log beside it once it is opened. */
function makeSingleFile(part: string): void {
  const copy = new Database(part)
  copy.pragma('journal_mode = DELETE')
  copy.close()
}

/** Gives the copy its name, unless somebody else took it in the meantime. */
function publish(part: string, to: string): void {
  try {
    linkSync(part, to)
  } catch (cause) {
    if (cause instanceof Error && 'code' in cause && cause.code === 'EEXIST') refuseTaken(to)
    throw new UpshotError('store_unavailable', `The backup cannot be put at ${to}.`, { cause })
  }
  syncFile(dirname(to))
}

function refuseTaken(to: string): void {
  if (!existsSync(dirname(to))) throw new UpshotError('not_found', `There is no folder ${dirname(to)}.`)
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
