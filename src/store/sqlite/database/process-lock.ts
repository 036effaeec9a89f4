import { existsSync, mkdirSync, rmSync } from 'node:fs'
import { dirname } from 'node:path'
import Database from 'better-sqlite3'

/**
 * A file lock that the operating system frees when the process ends. A process id would not do: ids
 * are reused, and containers that share a disk have their own.
 */
export interface ProcessLock {
  release(): void
}

/** Takes the lock in `file`; null when a living process holds it. SQLite locks, as Node cannot. */
export function takeProcessLock(file: string): ProcessLock | null {
  mkdirSync(dirname(file), { recursive: true })
  const db = new Database(file, { timeout: 0 })
  try {
    db.pragma('journal_mode = MEMORY')
    db.exec('BEGIN EXCLUSIVE')
    return {
      release() {
        db.close()
        rmSync(file, { force: true })
      },
    }
  } catch (error) {
    db.close()
    if (isBusy(error)) return null
    throw error
  }
}

/** Whether no living process holds the lock in `file`. Deletes the file of a dead process. */
export function isLockFree(file: string): boolean {
  if (!existsSync(file)) return true
  const lock = takeProcessLock(file)
  lock?.release()
  return lock !== null
}

function isBusy(error: unknown): boolean {
  return error instanceof Error && 'code' in error && String(error.code).startsWith('SQLITE_BUSY')
}
