import { join } from 'node:path'
import { LEASE_MS } from '../../../core/runs/lease.ts'
import type { Connection } from '../../connection.ts'
import type { GateTable } from '../../tables/gates/gate-table.ts'
import { Workers } from '../../tables/runs/workers.ts'
import { isLockFree, type ProcessLock, takeProcessLock } from '../database/process-lock.ts'

interface WorkerRow {
  id: string
  lockFile: string | null
  seenAt: number
}

/**
 * Workers whose process holds a lock, which tells exactly when it died. A busy worker never counts
 * as dead.
 */
export class WorkerTable extends Workers {
  readonly #lockFolder: string | null
  readonly #locks = new Map<string, ProcessLock>()
  readonly #beat = this.db.prepare(
    `INSERT INTO worker (id, lock_file, started_at, seen_at) VALUES (@id, @lockFile, @now, @now)
     ON CONFLICT (id) DO UPDATE SET seen_at = excluded.seen_at`,
  )
  readonly #list = this.db.prepare<[], WorkerRow>('SELECT id, lock_file, seen_at FROM worker')

  /** Without a lock folder (a database in memory), only a missing heartbeat tells a dead worker. */
  constructor(db: Connection, gates: GateTable, lockFolder: string | null) {
    super(db, { gates })
    this.#lockFolder = lockFolder
  }

  async startWorker(id: string, now: number): Promise<void> {
    const file = this.#lockFile(id)
    const lock = file === null || this.#locks.has(id) ? null : takeProcessLock(file)
    if (lock) this.#locks.set(id, lock)
    await this.beatWorker(id, now)
  }

  async beatWorker(id: string, now: number): Promise<void> {
    await this.#beat.run({ id, lockFile: this.#lockFile(id), now })
  }

  async living(now: number, leaseMs = LEASE_MS): Promise<string[]> {
    return (await this.#list.all()).filter((row) => this.#isAlive(row, now, leaseMs)).map(({ id }) => id)
  }

  protected async dead(now: number, leaseMs: number): Promise<string[]> {
    return (await this.#list.all()).filter((row) => !this.#isAlive(row, now, leaseMs)).map(({ id }) => id)
  }

  protected override async remove(id: string): Promise<void> {
    await super.remove(id)
    this.#locks.get(id)?.release()
    this.#locks.delete(id)
  }

  releaseLocks(): void {
    for (const lock of this.#locks.values()) lock.release()
    this.#locks.clear()
  }

  #isAlive(row: WorkerRow, now: number, leaseMs: number): boolean {
    if (this.#locks.has(row.id)) return true
    return row.lockFile === null ? now - row.seenAt <= leaseMs : !isLockFree(row.lockFile)
  }

  #lockFile(id: string): string | null {
    return this.#lockFolder === null ? null : join(this.#lockFolder, `${id}.lock`)
  }
}
