import type { Database } from 'better-sqlite3'
import type { CommitCounts } from '../../../core/commit-counts.ts'
import { UpshotError } from '../../../core/errors.ts'
import { DatabaseFile } from './database-file.ts'
import { isWholeFault, translateFault } from './storage-fault.ts'

interface Mutation {
  run: () => unknown
  read: ((value: unknown) => unknown) | undefined
  resolve: (value: never) => void
  reject: (error: unknown) => void
}

/** Takes part in every transaction, for example to keep memory in step with the database. */
export interface TransactionWatcher {
  /** Called within the transaction, before the first write. */
  begun(): void
  rolledBack(): void
  /** Called within the transaction, after the last write. */
  ending?(): void
}

/** Milliseconds that a write waits for the lock of another process. */
export const LOCK_WAIT_MS = 5_000
/** The same once it has waited in vain: later writes are to fail soon. */
const LOCKED_WAIT_MS = 100

/**
 * Commits all writes of one turn of the event loop together. Each caller gets its answer after the
 * one fsync, so fifty requests share its cost.
 */
export class GroupCommit {
  readonly #db: Database
  readonly #watchers: readonly TransactionWatcher[]
  /** Null for a database in memory. */
  readonly #file: DatabaseFile | null
  #isLocked = false
  #queue: Mutation[] = []
  #isScheduled = false
  #isClosed = false
  readonly #counts: CommitCounts | null
  readonly #begin
  readonly #commit
  readonly #rollback

  /** `counts`: where the time of each commit is added; null: nowhere. */
  constructor(db: Database, watchers: readonly TransactionWatcher[] = [], counts: CommitCounts | null = null) {
    this.#db = db
    this.#watchers = watchers
    this.#file = db.memory ? null : new DatabaseFile(db.name)
    this.#counts = counts
    this.#begin = db.prepare('BEGIN IMMEDIATE')
    this.#commit = db.prepare('COMMIT')
    this.#rollback = db.prepare('ROLLBACK')
  }

  /**
   * Runs `mutate` in the next commit and resolves once that is on disk, with `read` of its value.
   * `mutate` may only touch the database: it runs again if another write of the commit fails.
   */
  write<T, Answer = T>(mutate: () => T, read?: (value: T) => Answer): Promise<Answer> {
    if (this.#isClosed) return Promise.reject(new UpshotError('store_unavailable', 'The store is closed.'))
    return new Promise<Answer>((resolve, reject) => {
      this.#queue.push({ run: mutate, read, resolve, reject } as Mutation)
      this.#schedule()
    })
  }

  /** Commits the writes in the queue and refuses later ones. */
  close(): void {
    this.#flush()
    this.#isClosed = true
  }

  #schedule(): void {
    if (this.#isScheduled) return
    this.#isScheduled = true
    setImmediate(() => this.#flush())
  }

  #flush(): void {
    this.#isScheduled = false
    const group = this.#queue
    if (group.length === 0) return
    this.#queue = []
    try {
      settle(group, this.#commitTogether(group))
    } catch (error) {
      if (group.length === 1 || isWholeFault(error)) for (const { reject } of group) reject(error)
      else for (const mutation of group) this.#commitAlone(mutation)
    }
  }

  /** Also checks the file after the commit: what went into a deleted file is not acknowledged. */
  #commitTogether(group: readonly Mutation[]): unknown[] {
    try {
      this.#file?.check()
      const values = this.#commitAll(group)
      this.#file?.check()
      this.#setLocked(false)
      return values
    } catch (error) {
      const fault = translateFault(error, this.#db.name)
      this.#setLocked(fault instanceof UpshotError && fault.details.reason === 'locked')
      throw fault
    }
  }

  #setLocked(isLocked: boolean): void {
    if (isLocked === this.#isLocked) return
    this.#isLocked = isLocked
    this.#db.pragma(`busy_timeout = ${isLocked ? LOCKED_WAIT_MS : LOCK_WAIT_MS}`)
  }

  #commitAll(group: readonly Mutation[]): unknown[] {
    const startedAt = performance.now()
    this.#begin.run()
    try {
      for (const watcher of this.#watchers) watcher.begun()
      const values = group.map((mutation) => mutation.run())
      for (const watcher of this.#watchers) watcher.ending?.()
      const syncedFrom = performance.now()
      this.#commit.run()
      const endedAt = performance.now()
      this.#counts?.add(group.length, endedAt - startedAt, endedAt - syncedFrom)
      return values
    } catch (error) {
      if (this.#db.inTransaction) this.#rollback.run()
      for (const watcher of this.#watchers) watcher.rolledBack()
      throw error
    }
  }

  /** After a group failed: only the mutations that fail alone are rejected. */
  #commitAlone(mutation: Mutation): void {
    try {
      settle([mutation], this.#commitTogether([mutation]))
    } catch (error) {
      mutation.reject(error)
    }
  }
}

function settle(group: readonly Mutation[], values: readonly unknown[]): void {
  for (const [index, { read, resolve, reject }] of group.entries()) {
    const value = values[index]
    try {
      resolve((read ? read(value) : value) as never)
    } catch (error) {
      reject(error)
    }
  }
}
