import { Worker } from 'node:worker_threads'
import type { Database } from 'better-sqlite3'
import type { TransactionWatcher } from './group-commit.ts'

/** The log is copied whenever it has grown by so many pages … */
const EVERY_PAGES = 700
/** … and by the writing connection itself when it has this many: little is left to copy then, and it begins anew. */
const OWN_PAGES = 2_900

/**
 * Copies the write-ahead log into the database, which SQLite calls a checkpoint, in a thread of its own. SQLite would do it
 * within a commit, and everybody who waits for that commit would wait for the other file's fsync, too.
 */
export class WalBackfill implements TransactionWatcher {
  readonly #file: string
  readonly #look
  #thread: Worker | null = null
  #copiedAt = 0

  constructor(db: Database, file: string) {
    this.#file = file
    db.pragma(`wal_autocheckpoint = ${OWN_PAGES}`)
    this.#look = db.prepare<[], { log: number }>('PRAGMA wal_checkpoint(NOOP)')
  }

  committed(): void {
    const pages = this.#countPages()
    // It has begun anew.
    if (pages < this.#copiedAt) this.#copiedAt = 0
    if (pages - this.#copiedAt < EVERY_PAGES) return
    this.#copiedAt = pages
    this.#thread ??= this.#startThread()
    this.#thread.postMessage(null)
  }

  /** What is committed is committed, whatever becomes of this: a disk that fails is the next commit's to tell of. */
  #countPages(): number {
    try {
      return this.#look.get()?.log ?? 0
    } catch {
      return 0
    }
  }

  /** At the first need: an installation that writes little never has one. It ends with the thread that it belongs to. */
  #startThread(): Worker {
    // The same ending as this file: source here, JavaScript in the package.
    const entry = new URL(import.meta.url.replace(/wal-backfill(\.\w+)$/, 'wal-backfill-thread$1'))
    const thread = new Worker(entry, { workerData: { file: this.#file } })
    thread.unref()
    // The next need starts another one; until then the writing connection does without.
    thread
      .on('error', () => {})
      .once('exit', () => {
        this.#thread = null
      })
    return thread
  }
}
