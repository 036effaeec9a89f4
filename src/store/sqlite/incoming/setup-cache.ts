import type { Database } from 'better-sqlite3'
import { loadSetup, SETUP_VERSION, type Setup, type SetupTables } from '../../rows/incoming/setup.ts'
import type { TransactionWatcher } from '../database/group-commit.ts'
import { translateFault } from '../database/storage-fault.ts'

/**
 * Endpoints and routes in memory, loaded again after any process has changed them. As a watcher of
 * the group commit, it asks anew after each.
 */
export class SetupCache implements TransactionWatcher {
  readonly #file: string
  readonly #version
  readonly #tables: SetupTables
  #isChecked = false
  #known: Setup | null = null

  constructor(db: Database, tables: SetupTables) {
    this.#file = db.name
    this.#version = db.prepare<[], number>(SETUP_VERSION).pluck()
    this.#tables = tables
  }

  /**
   * As it is in this turn. It asks SQLite once per turn: a commit during the turn counts as later.
   * Throws `store_unavailable` for a fault of the database.
   */
  async get(): Promise<Setup> {
    if (this.#isChecked && this.#known) return this.#known
    try {
      return await this.#check()
    } catch (error) {
      throw translateFault(error, this.#file)
    }
  }

  /** The present version. Exact within a transaction. */
  version(): number {
    return this.#version.get() ?? 0
  }

  async ending(): Promise<void> {
    this.#isChecked = false
  }

  rolledBack(): void {
    this.#isChecked = false
  }

  async #check(): Promise<Setup> {
    const version = this.version()
    if (version !== this.#known?.version) this.#known = { version, ...(await loadSetup(this.#tables)) }
    this.#isChecked = true
    setImmediate(() => {
      this.#isChecked = false
    })
    return this.#known
  }
}
