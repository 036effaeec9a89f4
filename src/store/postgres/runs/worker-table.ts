import { decideBlame, type Harm, type Suspect, type WorkerEnd } from '../../../core/runs/blame.ts'
import type { RunName } from '../../../core/runs/run.ts'
import type { Recovery } from '../../../core/store/workers.ts'
import type { GateTable } from '../../tables/gates/gate-table.ts'
import type { Connection } from '../database/connection.ts'
import { DATABASE_NOW, workerLock } from '../database/direct-session.ts'

type LeasedRun = RunName & Suspect

/** Silence after which a worker is dead, and after which its lock is looked at; in milliseconds. */
const DEAD_MS = 15_000
const SILENT_MS = 3_000

/**
 * Workers and their leases, by the clock of the database. A worker is dead when it was silent for
 * 15 s, or for 3 s with its lock free. A lock alone proves nothing: a failover frees them all.
 */
export class WorkerTable {
  readonly #gates: GateTable
  readonly #sql

  constructor(db: Connection, gates: GateTable) {
    this.#gates = gates
    this.#sql = prepareWorkers(db)
  }

  async start(id: string, now: number): Promise<void> {
    await this.#sql.beat.run(id, now)
  }

  /** Also restores a worker that others took for dead. */
  async beat(id: string, now: number): Promise<void> {
    await this.#sql.beat.run(id, now)
  }

  /** Ids of the workers that are at work. */
  living(): Promise<string[]> {
    return this.#sql.living.all()
  }

  /** Ends the leases of dead workers and blames their runs. */
  async recover(): Promise<Recovery> {
    const recovery: Recovery = { count: 0, suspects: [], parked: [] }
    // Another process that buries the same worker holds its row: it is passed over.
    for (const id of await this.#sql.lockDead.all()) await this.#bury(id, 'process', recovery)
    // A worker that was taken for dead may claim before it says that it lives.
    for (const id of await this.#sql.unknown.all()) recovery.count += (await this.#sql.endLeases.run(id)).changes
    return recovery
  }

  /** The same for one worker, whose process lives. */
  async end(id: string, harm: Harm | null): Promise<Recovery> {
    return this.#bury(id, 'engine', { count: 0, suspects: [], parked: [] }, harm)
  }

  async stop(id: string): Promise<void> {
    await this.#sql.endLeases.run(id)
    await this.#remove(id)
  }

  async #bury(id: string, end: WorkerEnd, recovery: Recovery, harm: Harm | null = null): Promise<Recovery> {
    for (const { run, workflow, kind, reason, ...counts } of decideBlame(await this.#sql.leased.all(id), end, harm)) {
      const status = reason === null ? 'pending' : 'waiting'
      await this.#sql.takeBack.run({ run, ...counts, reason, status })
      recovery.count += 1
      if (reason !== null) await this.#gates.sleep(run)
      if (reason !== null) recovery.parked.push({ run, workflow, reason })
      else if (kind === 'isolate') recovery.suspects.push({ run, workflow })
    }
    await this.#remove(id)
    return recovery
  }

  async #remove(id: string): Promise<void> {
    await this.#sql.dropSet.run(id)
    await this.#sql.delete.run(id)
  }
}

/** Index: primary keys, and work_leased. A database has a few dozen workers. */
function prepareWorkers(db: Connection) {
  return {
    beat: db.prepare<[string, number]>(
      `INSERT INTO worker (id, started_at, seen_at) VALUES (?, ?, ${DATABASE_NOW})
       ON CONFLICT (id) DO UPDATE SET seen_at = excluded.seen_at`,
    ),
    living: db.prepare<[], string>(`SELECT id FROM worker WHERE seen_at > ${DATABASE_NOW} - ${DEAD_MS}`).pluck(),
    lockDead: db
      .prepare<[], string>(
        `SELECT id FROM worker WHERE CASE WHEN seen_at > ${DATABASE_NOW} - ${SILENT_MS} THEN false
           WHEN seen_at <= ${DATABASE_NOW} - ${DEAD_MS} THEN true
           ELSE pg_try_advisory_xact_lock(${workerLock('id')}) END
         ORDER BY id FOR UPDATE SKIP LOCKED`,
      )
      .pluck(),
    // Index: work_leased.
    unknown: db
      .prepare<[], string>(
        `SELECT DISTINCT worker FROM work WHERE status = 'running' AND NOT EXISTS (
           SELECT 1 FROM worker WHERE worker.id = work.worker) ORDER BY worker`,
      )
      .pluck(),
    delete: db.prepare<[string]>('DELETE FROM worker WHERE id = ?'),
    dropSet: db.prepare<[string]>('DELETE FROM worker_workflow WHERE worker = ?'),
    leased: db.prepare<[string], LeasedRun>(
      `SELECT run_id AS run, workflow, crashes, suspicion FROM work WHERE worker = ? AND status = 'running'
       ORDER BY run_id FOR UPDATE`,
    ),
    // The higher fence refuses the writes of a worker that was only slow.
    takeBack: db.prepare(
      `UPDATE work SET status = @status, due_at = NULL, worker = NULL, fence = fence + 1, reason = @reason,
         crashes = @crashes, suspicion = @suspicion WHERE run_id = @run`,
    ),
    endLeases: db.prepare<[string]>(
      `UPDATE work SET status = 'pending', worker = NULL, fence = fence + 1 WHERE worker = ? AND status = 'running'`,
    ),
  }
}
