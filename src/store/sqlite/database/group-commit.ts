import type { Database } from 'better-sqlite3'
import type { CommitCounts } from '../../../core/commit-counts.ts'
import { type ErrorCode, UpshotError } from '../../../core/errors.ts'
import { DatabaseFile } from './database-file.ts'
import { isWholeFault, translateFault } from './storage-fault.ts'

interface Mutation {
  /** It awaits nothing but its connection, so that all of it happens within one turn. */
  run: () => unknown
  resolve: (value: never) => void
  reject: (error: unknown) => void
}

/** Takes part in every transaction, for example to keep memory in step with the database. */
interface TransactionWatcher {
  /** Called within the transaction, before the first write. */
  begun?(): void
  rolledBack(): void
  /** Called within the transaction, after the last write. */
  ending?(): Promise<void>
}

/** Milliseconds that a write waits for the lock of another process. */
export const LOCK_WAIT_MS = 5_000
/** The same once it has waited in vain: later writes are to fail soon. */
const LOCKED_WAIT_MS = 100

/** Others that a commit takes at least, where some writes are first. */
const FEW = 8
/** Other writes stay few for this long after one that is first, in milliseconds. */
const LATELY_MS = 20

/**
 * Commits all writes of one turn of the event loop together. Each caller gets its answer after the
 * one fsync, so fifty requests share its cost. Writes that are first stand behind few others.
 */
export class GroupCommit {
  readonly #db: Database
  readonly #watchers: readonly TransactionWatcher[]
  /** Null for a database in memory. */
  readonly #file: DatabaseFile | null
  #isLocked = false
  #queue: Mutation[] = []
  /** Writes that are made before those of the queue. */
  #first: Mutation[] = []
  #lastFirstAt = Number.NEGATIVE_INFINITY
  /** Other writes that take as long as the last sync did. */
  #others = FEW
  #isScheduled = false
  /** The commit at work. A read on this connection would see its writes. */
  #work: Promise<void> | null = null
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
   * Runs `mutate` in the next commit and resolves once that is on disk. `mutate` may only touch the
   * database: it runs again if another write of the commit fails. Where it is asynchronous, it may
   * await that database alone: no other turn comes in between. `isFirst`: before all that wait.
   */
  write<T>(mutate: () => T | Promise<T>, isFirst = false): Promise<T> {
    if (this.#isClosed) return Promise.reject(new UpshotError('store_unavailable', 'The store is closed.'))
    return new Promise<T>((resolve, reject) => {
      if (isFirst) this.#lastFirstAt = performance.now()
      const queue = isFirst ? this.#first : this.#queue
      queue.push({ run: mutate, resolve, reject } as Mutation)
      this.#schedule()
    })
  }

  /** The end of the commit at work, or null: until then, its writes may still be undone. */
  get work(): Promise<void> | null {
    return this.#work
  }

  /** Commits the writes in the queue and refuses later ones. */
  async close(): Promise<void> {
    this.#isClosed = true
    while (this.#first.length + this.#queue.length > 0 || this.#work) await this.#flush()
  }

  #schedule(): void {
    if (this.#isScheduled) return
    this.#isScheduled = true
    setImmediate(() => this.#flush())
  }

  async #flush(): Promise<void> {
    this.#isScheduled = false
    while (this.#work) await this.#work
    const group = this.#takeGroup()
    if (group.length === 0) return
    this.#work = this.#perform(group)
    await this.#work
    this.#work = null
    if (this.#queue.length > 0) this.#schedule()
  }

  /** Half of the time goes to others at least, however slow the disk is. */
  #takeGroup(): Mutation[] {
    const isShared = this.#first.length > 0 || performance.now() - this.#lastFirstAt < LATELY_MS
    const others = this.#queue.splice(0, isShared ? this.#others : this.#queue.length)
    return [...this.#first.splice(0), ...others]
  }

  async #perform(group: readonly Mutation[]): Promise<void> {
    try {
      settle(group, await this.#commitTogether(group))
    } catch (error) {
      if (group.length === 1 || isWholeFault(error)) for (const { reject } of group) reject(error)
      else for (const mutation of group) await this.#commitAlone(mutation)
    }
  }

  /** Also checks the file after the commit: what went into a deleted file is not acknowledged. */
  async #commitTogether(group: readonly Mutation[]): Promise<Outcome[]> {
    try {
      this.#file?.check()
      const values = await this.#commitAll(group)
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

  async #commitAll(group: readonly Mutation[]): Promise<Outcome[]> {
    const startedAt = performance.now()
    const turn = watchTurn()
    this.#begin.run()
    try {
      for (const watcher of this.#watchers) watcher.begun?.()
      const outcomes: Outcome[] = []
      // One after the other: a write finds what the one before it wrote.
      for (const mutation of group) outcomes.push(await perform(mutation))
      for (const watcher of this.#watchers) await watcher.ending?.()
      turn.require()
      const syncedFrom = performance.now()
      this.#commit.run()
      const endedAt = performance.now()
      const share = (endedAt - syncedFrom) / (syncedFrom - startedAt)
      this.#others = Math.max(FEW, Math.ceil(share * group.length))
      this.#counts?.add(group.length, endedAt - startedAt, endedAt - syncedFrom)
      return outcomes
    } catch (error) {
      if (this.#db.inTransaction) this.#rollback.run()
      for (const watcher of this.#watchers) watcher.rolledBack()
      throw error
    }
  }

  /** After a group failed: only the mutations that fail alone are rejected. */
  async #commitAlone(mutation: Mutation): Promise<void> {
    try {
      settle([mutation], await this.#commitTogether([mutation]))
    } catch (error) {
      mutation.reject(error)
    }
  }
}

/** `require` throws once another turn of the event loop has begun. */
function watchTurn(): { require(): void } {
  let isOver = false
  setImmediate(() => {
    isOver = true
  })
  return {
    require() {
      if (isOver) throw new UpshotError('internal', 'A write awaited something other than its database.')
    },
  }
}

/** Answers a write once its commit is on disk. */
type Outcome = (write: Mutation) => void

/** Codes of writes that came too late. Such a write changed nothing, so its commit goes on. */
const LATE: readonly string[] = ['stale_lease', 'stale_plan'] satisfies ErrorCode[]

async function perform({ run }: Mutation): Promise<Outcome> {
  try {
    const value = await run()
    return ({ resolve }) => resolve(value as never)
  } catch (error) {
    if (!(error instanceof UpshotError && LATE.includes(error.code))) throw error
    return ({ reject }) => reject(error)
  }
}

function settle(group: readonly Mutation[], outcomes: readonly Outcome[]): void {
  for (const [index, write] of group.entries()) outcomes[index]?.(write)
}
