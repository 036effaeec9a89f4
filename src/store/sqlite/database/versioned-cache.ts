import type { Database } from 'better-sqlite3'
import type { TransactionWatcher } from './group-commit.ts'
import { translateFault } from './storage-fault.ts'

/**
 * A value in memory that is loaded again after any process raised its version. As a watcher of the
 * group commit, it asks anew after each.
 */
export class VersionedCache<T> implements TransactionWatcher {
  readonly #file: string
  readonly #version
  readonly #raise
  readonly #load
  #isChecked = false
  #cached: { version: number; value: T } | null = null

  /** `table` has one row with the version. `load` gets the version, 0 before the first change. */
  constructor(db: Database, table: 'endpoint_version' | 'workflow_version', load: (version: number) => T | Promise<T>) {
    this.#file = db.name
    this.#version = db.prepare<[], number>(`SELECT version FROM ${table}`).pluck()
    this.#raise = db.prepare(`UPDATE ${table} SET version = version + 1`)
    this.#load = load
  }

  /**
   * The value. It asks SQLite once per turn: a commit during the turn counts as later. Throws
   * `store_unavailable` for a fault of the database.
   */
  async get(): Promise<T> {
    if (this.#isChecked && this.#cached) return this.#cached.value
    try {
      return await this.#check()
    } catch (error) {
      throw translateFault(error, this.#file)
    }
  }

  async #check(): Promise<T> {
    const version = this.version()
    if (version !== this.#cached?.version) this.#cached = { version, value: await this.#load(version) }
    this.#isChecked = true
    setImmediate(() => {
      this.#isChecked = false
    })
    return this.#cached.value
  }

  /** The version of the value that `get` gives in this turn. */
  async knownVersion(): Promise<number> {
    await this.get()
    return this.#cached?.version ?? 0
  }

  begun(): void {}

  async ending(): Promise<void> {
    this.#isChecked = false
  }

  rolledBack(): void {
    this.#isChecked = false
    // The next commit may raise the version to the same number.
    this.#cached = null
  }

  version(): number {
    return this.#version.get() ?? 0
  }

  /** Call it in the transaction that changes the value. */
  raise(): void {
    this.#raise.run()
    this.#isChecked = false
  }
}
