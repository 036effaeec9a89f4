import { existsSync, mkdirSync, rmSync } from 'node:fs'
import { dirname } from 'node:path'
import Database from 'better-sqlite3'

/**
 * A lock that the operating system frees when the process ends, however it ends. Unlike a process
 * id it cannot be mistaken: ids are used again, and mean nothing across containers that share a
 * disk. SQLite does the locking, because Node has no call for it.
 */
export interface ProcessLock {
  release(): void
}

/** Takes the lock in `file`; null when a living process holds it. */
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

/**
 * Whether no living process holds the lock in `file`; a missing file is free. Cleans up behind a
 * dead holder.
 */
export function isLockFree(file: string): boolean {
  if (!existsSync(file)) return true
  const lock = takeProcessLock(file)
  lock?.release()
  return lock !== null
}

function isBusy(error: unknown): boolean {
  return error instanceof Error && 'code' in error && String(error.code).startsWith('SQLITE_BUSY')
}
