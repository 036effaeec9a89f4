import { statSync } from 'node:fs'
import Database from 'better-sqlite3'
import { describeFault } from './storage-fault.ts'

/** A new connection reads the file this often, in milliseconds. */
const READ_EVERY_MS = 5_000

/**
 * Watches that the path of a database still leads to the open file. SQLite writes on into a deleted
 * file, and reads an overwritten one from its cache. A check takes a few microseconds.
 */
export class DatabaseFile {
  readonly #path: string
  readonly #file: string
  /** Null until the first write has made the log. */
  #log: string | null
  /** The index of the log, which has the locks of all processes. Null until that write, too. */
  #index: string | null

  #readAt = performance.now()

  /** `path` is that of an open database. */
  constructor(path: string) {
    this.#path = path
    this.#file = identify(path, { mayBeEmpty: false }) ?? ''
    this.#log = identify(logOf(path))
    this.#index = identify(indexOf(path))
  }

  /**
   * Throws `store_unavailable` where the file, its log or the index of that is gone or another one.
   * Every 5 s it also throws SQLite's error where the file is no database any more.
   */
  check(): void {
    this.#require(identify(this.#path, { mayBeEmpty: false }), this.#file, 'gone')
    const log = identify(logOf(this.#path))
    this.#log ??= log
    if (this.#log !== null) this.#require(log, this.#log, 'log_gone')
    const index = identify(indexOf(this.#path))
    this.#index ??= index
    // The next process makes another one, and then neither knows of the other's locks.
    if (index !== this.#index) throw describeFault('log_gone', this.#path)
    if (performance.now() - this.#readAt >= READ_EVERY_MS) this.#read()
  }

  /** Through SQLite, because closing a handle of our own would free SQLite's locks on the file. */
  #read(): void {
    const db = new Database(this.#path, { readonly: true, timeout: 0 })
    try {
      db.prepare('SELECT count(*) FROM sqlite_schema').get()
      this.#readAt = performance.now()
    } finally {
      db.close()
    }
  }

  #require(found: string | null, expected: string, gone: 'gone' | 'log_gone'): void {
    if (found === expected) return
    throw describeFault(found === null ? gone : 'replaced', this.#path)
  }
}

function logOf(path: string): string {
  return `${path}-wal`
}

function indexOf(path: string): string {
  return `${path}-shm`
}

/** Null where there is no file. A log is empty after a checkpoint, a database never is. */
function identify(path: string, { mayBeEmpty = true } = {}): string | null {
  const found = statSync(path, { throwIfNoEntry: false })
  if (found === undefined) return null
  return found.size === 0 && !mayBeEmpty ? 'emptied' : `${found.dev} ${found.ino}`
}
