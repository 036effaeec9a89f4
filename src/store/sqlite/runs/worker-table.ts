import { join } from 'node:path'
import { decideBlame, type Harm, type Suspect, type WorkerEnd } from '../../../core/runs/blame.ts'
import { LEASE_MS } from '../../../core/runs/lease.ts'
import type { RunName } from '../../../core/runs/run.ts'
import type { Recovery } from '../../../core/store/workers.ts'
import type { Connection } from '../../connection.ts'
import type { GateTable } from '../../tables/gates/gate-table.ts'
import { isLockFree, type ProcessLock, takeProcessLock } from '../database/process-lock.ts'

interface WorkerRow {
  id: string
  lock_file: string | null
  seen_at: number
}

type LeasedRun = RunName & Suspect

/**
 * Workers and their leases. A worker's process holds a lock, which tells exactly when it died. A
 * busy worker never counts as dead.
 */
export class WorkerTable {
  readonly #gates: GateTable
  readonly #lockFolder: string | null
  readonly #locks = new Map<string, ProcessLock>()
  /** Workers whose process lives without a heartbeat, and how often this one looked since. */
  readonly #insert
  readonly #beat
  readonly #list
  readonly #delete
  readonly #dropSet
  readonly #endLeases
  readonly #leased
  readonly #takeBack

  /** Without a lock folder (a database in memory), only a missing heartbeat tells a dead worker. */
  constructor(db: Connection, gates: GateTable, lockFolder: string | null) {
    this.#gates = gates
    this.#lockFolder = lockFolder
    this.#insert = db.prepare('INSERT INTO worker (id, lock_file, started_at, seen_at) VALUES (?, ?, ?, ?)')
    this.#beat = db.prepare(
      `INSERT INTO worker (id, lock_file, started_at, seen_at) VALUES (@id, @lockFile, @now, @now)
       ON CONFLICT (id) DO UPDATE SET seen_at = excluded.seen_at`,
    )
    this.#list = db.prepare<[], WorkerRow>('SELECT id, lock_file, seen_at FROM worker')
    this.#delete = db.prepare('DELETE FROM worker WHERE id = ?')
    this.#dropSet = db.prepare('DELETE FROM worker_workflow WHERE worker = ?')
    // Index: work_leased.
    this.#leased = db.prepare<[string], LeasedRun>(
      `SELECT run_id AS run, workflow, crashes, suspicion FROM work WHERE worker = ? AND status = 'running'
       ORDER BY run_id`,
    )
    // Index: primary key. The higher fence refuses the writes of a worker that was only slow.
    this.#takeBack = db.prepare(
      `UPDATE work SET status = @status, due_at = NULL, worker = NULL, fence = fence + 1, reason = @reason,
         crashes = @crashes, suspicion = @suspicion WHERE run_id = @run`,
    )
    // Index: work_leased.
    this.#endLeases = db.prepare(
      `UPDATE work SET status = 'pending', worker = NULL, fence = fence + 1 WHERE worker = ? AND status = 'running'`,
    )
  }

  async start(id: string, now: number): Promise<void> {
    await this.#insert.run(id, this.#lock(id), now, now)
  }

  /** Also restores a worker that others took for dead, where there are no locks. */
  async beat(id: string, now: number): Promise<void> {
    await this.#beat.run({ id, lockFile: this.#lockFile(id), now })
  }

  /** Ids of the workers that are at work. */
  async living(now: number, leaseMs = LEASE_MS): Promise<string[]> {
    return (await this.#list.all()).filter((row) => this.#isAlive(row, now, leaseMs)).map(({ id }) => id)
  }

  /** Ends the leases of dead workers and blames their runs. */
  async recover(now: number, leaseMs: number): Promise<Recovery> {
    const dead = (await this.#list.all()).filter((row) => !this.#isAlive(row, now, leaseMs))
    const recovery: Recovery = { count: 0, suspects: [], parked: [] }
    for (const { id } of dead) await this.#bury(id, 'process', recovery)
    return recovery
  }

  /** The same for one worker, whose process lives. */
  async end(id: string, harm: Harm | null): Promise<Recovery> {
    return this.#bury(id, 'engine', { count: 0, suspects: [], parked: [] }, harm)
  }

  async stop(id: string): Promise<void> {
    await this.#endLeases.run(id)
    await this.#remove(id)
  }

  async #bury(id: string, end: WorkerEnd, recovery: Recovery, harm: Harm | null = null): Promise<Recovery> {
    for (const { run, workflow, kind, reason, ...counts } of decideBlame(await this.#leased.all(id), end, harm)) {
      const status = reason === null ? 'pending' : 'waiting'
      await this.#takeBack.run({ run, ...counts, reason, status })
      recovery.count += 1
      if (reason !== null) await this.#gates.sleep(run)
      if (reason !== null) recovery.parked.push({ run, workflow, reason })
      else if (kind === 'isolate') recovery.suspects.push({ run, workflow })
    }
    await this.#remove(id)
    return recovery
  }

  async #remove(id: string): Promise<void> {
    await this.#dropSet.run(id)
    await this.#delete.run(id)
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
