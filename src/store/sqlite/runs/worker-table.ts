import { join } from 'node:path'
import type { Database } from 'better-sqlite3'
import { MAX_CRASHES } from '../../../core/runs/lease.ts'
import { isLockFree, type ProcessLock, takeProcessLock } from '../database/process-lock.ts'

interface WorkerRow {
  id: string
  lock_file: string | null
  seen_at: number
}

/** Looks, one with each heartbeat of a worker, that find another one silent before it is dead. */
const MIN_SILENT_LOOKS = 3

/** Workers and their leases. A worker holds a process lock, which tells exactly when it died. */
export class WorkerTable {
  readonly #lockFolder: string | null
  readonly #locks = new Map<string, ProcessLock>()
  /** Workers whose process lives without a heartbeat, and how often this one looked since. */
  readonly #silent = new Map<string, { seenAt: number; looks: number }>()
  readonly #insert
  readonly #beat
  readonly #list
  readonly #delete
  readonly #dropSet
  readonly #endLeases
  readonly #parkCrashing

  /** Without a lock folder (a database in memory), only a missing heartbeat tells a dead worker. */
  constructor(db: Database, lockFolder: string | null) {
    this.#lockFolder = lockFolder
    this.#insert = db.prepare('INSERT INTO worker (id, lock_file, started_at, seen_at) VALUES (?, ?, ?, ?)')
    this.#beat = db.prepare(
      `INSERT INTO worker (id, lock_file, started_at, seen_at) VALUES (@id, @lockFile, @now, @now)
       ON CONFLICT (id) DO UPDATE SET seen_at = excluded.seen_at`,
    )
    this.#list = db.prepare<[], WorkerRow>('SELECT id, lock_file, seen_at FROM worker')
    this.#delete = db.prepare('DELETE FROM worker WHERE id = ?')
    this.#dropSet = db.prepare('DELETE FROM worker_workflow WHERE worker = ?')
    // Index: run_leased. The higher fence refuses the writes of a worker that was only slow.
    this.#parkCrashing = db.prepare(
      `UPDATE run SET status = 'waiting', due_at = NULL, worker = NULL, fence = fence + 1, crashes = crashes + 1,
         reason = 'its process died ' || (crashes + 1) || ' times while working on it'
       WHERE worker = @worker AND status = 'running' AND crashes + 1 >= @maxCrashes`,
    )
    this.#endLeases = db.prepare(
      `UPDATE run SET status = 'pending', worker = NULL, fence = fence + 1, crashes = crashes + @crashes
       WHERE worker = @worker AND status = 'running'`,
    )
  }

  start(id: string, now: number): void {
    this.#insert.run(id, this.#lock(id), now, now)
  }

  /** Also restores a worker that others took for dead while its process was suspended. */
  beat(id: string, now: number): void {
    this.#beat.run({ id, lockFile: this.#lockFile(id), now })
  }

  /** Ids of the workers that are at work. */
  living(now: number, leaseMs: number): string[] {
    return this.#list
      .all()
      .filter((row) => this.#isAlive(row, now, leaseMs))
      .map(({ id }) => id)
  }

  /** Ends the leases of dead workers and returns their number. */
  recover(now: number, leaseMs: number): number {
    const dead = this.#list.all().filter((row) => this.#isDead(row, now, leaseMs))
    return dead.reduce((count, { id }) => {
      const parked = this.#parkCrashing.run({ worker: id, maxCrashes: MAX_CRASHES }).changes
      const released = this.#endLeases.run({ worker: id, crashes: 1 }).changes
      this.#dropSet.run(id)
      this.#delete.run(id)
      return count + parked + released
    }, 0)
  }

  stop(id: string): void {
    this.#endLeases.run({ worker: id, crashes: 0 })
    this.#dropSet.run(id)
    this.#delete.run(id)
    this.#locks.get(id)?.release()
    this.#locks.delete(id)
  }

  releaseLocks(): void {
    for (const lock of this.#locks.values()) lock.release()
    this.#locks.clear()
  }

  #isAlive(row: WorkerRow, now: number, leaseMs: number): boolean {
    if (this.#locks.has(row.id)) return true
    return row.lock_file === null ? now - row.seen_at <= leaseMs : !isLockFree(row.lock_file)
  }

  /**
   * A living process that hangs counts as dead, too. Its silence has to last for several looks: a
   * clock that jumps forward makes every heartbeat look old.
   */
  #isDead(row: WorkerRow, now: number, leaseMs: number): boolean {
    if (!this.#isAlive(row, now, leaseMs)) return true
    if (this.#locks.has(row.id) || now - row.seen_at <= leaseMs) {
      this.#silent.delete(row.id)
      return false
    }
    const known = this.#silent.get(row.id)
    const looks = known?.seenAt === row.seen_at ? known.looks + 1 : 1
    this.#silent.set(row.id, { seenAt: row.seen_at, looks })
    return looks >= MIN_SILENT_LOOKS || leaseMs < 0
  }

  #lockFile(id: string): string | null {
    return this.#lockFolder === null ? null : join(this.#lockFolder, `${id}.lock`)
  }

  #lock(id: string): string | null {
    const file = this.#lockFile(id)
    if (file === null || this.#locks.has(id)) return file
    const lock = takeProcessLock(file)
    if (lock) this.#locks.set(id, lock)
    return file
  }
}
