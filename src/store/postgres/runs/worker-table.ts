import type { Recovery } from '../../../core/runs/blame.ts'
import { Workers } from '../../tables/runs/workers.ts'
import { DATABASE_NOW, workerLock } from '../database/direct-session.ts'

/** Silence after which a worker is dead, and after which its lock is looked at; in milliseconds. */
const DEAD_MS = 15_000
const SILENT_MS = 3_000

/**
 * Workers by the clock of the database. A worker is dead when it was silent for 15 s, or for 3 s
 * with its lock free. So is one with a free lock that was seen in the future: the clock was set
 * back. A lock alone proves nothing: a failover frees them all. A process whose own session was
 * lost just now judges nobody.
 */
export class WorkerTable extends Workers {
  // Index: work_leased.
  readonly #unknown = this.db.pluck<[], string>(
    `SELECT DISTINCT worker FROM work WHERE worker IS NOT NULL AND NOT EXISTS (
       SELECT 1 FROM worker WHERE worker.id = work.worker) ORDER BY worker`,
  )

  // Index: primary key. A database has a few dozen workers.
  readonly beatWorker = this.write<[id: string, now: number]>(
    `INSERT INTO worker (id, started_at, seen_at) VALUES (?, ?, ${DATABASE_NOW})
     ON CONFLICT (id) DO UPDATE SET seen_at = excluded.seen_at`,
  )
  readonly startWorker = this.beatWorker

  readonly living = this.readValues<[], string>(
    `SELECT id FROM worker WHERE seen_at > ${DATABASE_NOW} - ${DEAD_MS}`,
    byDatabase,
  )

  protected readonly dead = this.readValues<[], string>(
    `SELECT id FROM worker WHERE CASE WHEN abs(seen_at - ${DATABASE_NOW}) < ${SILENT_MS} THEN false
       WHEN seen_at <= ${DATABASE_NOW} - ${DEAD_MS} THEN true
       ELSE pg_try_advisory_xact_lock(${workerLock('id')}) END
     ORDER BY id FOR UPDATE SKIP LOCKED`,
    byDatabase,
  )

  override async recover(now: number, leaseMs: number): Promise<Recovery> {
    const recovery = await super.recover(now, leaseMs)
    // A worker that was taken for dead may claim before it says that it lives.
    for (const id of await this.#unknown.all()) recovery.count += await this.endLeases(id)
    return recovery
  }
}

/** The moment of the caller counts for nothing. */
function byDatabase(): [] {
  return []
}
