import { closeSync, openSync, readSync, statSync } from 'node:fs'
import { isMainThread } from 'node:worker_threads'
import { describeFault } from './storage-fault.ts'

/** Where a database says whether it has a log; the format is that of SQLite, and stays. */
const VERSION_AT = 18
const WITH_LOG = 2

/** Findings of the first look of this process, by file. */
const found = new Map<string, boolean>()

/**
 * Throws `store_unavailable` for a backup beside the log of the database whose place it took:
 * SQLite would write that log into it. A backup of ours says that it has no log, and SQLite says
 * otherwise before it makes one. Only the first connection of a process looks: closing a handle of
 * our own would free the locks of the others. Threads connect after the main one.
 */
export function requireOwnLog(file: string): void {
  if (!isMainThread) return
  const isForeign = found.get(file) ?? hasForeignLog(file)
  found.set(file, isForeign)
  if (isForeign) throw describeFault('foreign_log', file)
}

/** Looks at the log first: whoever makes it has changed the database by then. */
function hasForeignLog(file: string): boolean {
  const log = statSync(`${file}-wal`, { throwIfNoEntry: false })
  return log !== undefined && log.size > 0 && readVersion(file) < WITH_LOG
}

/** SQLite removes the log of an empty file by itself, and tells of a file that cannot be read. */
function readVersion(file: string): number {
  const version = Buffer.alloc(1, WITH_LOG)
  try {
    const handle = openSync(file, 'r')
    readSync(handle, version, 0, 1, VERSION_AT)
    closeSync(handle)
  } catch {}
  return version.readUInt8()
}
