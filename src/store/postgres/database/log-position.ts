import { Table } from '../../connection.ts'
import type { Connection } from './connection.ts'

/** The end of a server's log that is on its disk: every commit that was answered is before it. */
export interface LogEnd {
  position: string
  /** Rises with each failover. */
  timeline: number
}

/** The same for a server and its copies. */
export interface Identity {
  system: string
  database: string
}

/** Tells how much of the primary's log a standby has replayed. */
export class LogPosition extends Table<Connection> {
  /** Of a primary. */
  readonly end = this.readOne<[], LogEnd>(
    `SELECT pg_current_wal_flush_lsn()::text AS position,
       ('x' || substr(pg_walfile_name(pg_current_wal_flush_lsn()), 1, 8))::bit(32)::int AS timeline`,
  )
  // The receiver of the log knows the timeline first, and tells it to members of pg_monitor only.
  readonly #reached = this.readOne<[{ position: string }], { isReplayed: boolean | null; timeline: number }>(
    `SELECT pg_last_wal_replay_lsn() >= @position::pg_lsn AS is_replayed,
       greatest(restart.timeline_id, recovery.min_recovery_end_timeline,
         (SELECT received_tli FROM pg_stat_wal_receiver)) AS timeline
     FROM pg_control_checkpoint() AS restart, pg_control_recovery() AS recovery`,
  )
  readonly identity = this.readOne<[], Identity>(IDENTITY)

  /** Whether a standby of the same timeline has replayed so much. */
  async hasReached({ position, timeline }: LogEnd): Promise<{ isReplayed: boolean; isSameLine: boolean }> {
    const reached = await this.#reached({ position })
    return { isReplayed: reached.isReplayed === true, isSameLine: reached.timeline === timeline }
  }
}

/** SQL for an `Identity`. Copies of a server keep its number, and those of its databases. */
export const IDENTITY = `SELECT system_identifier::text AS system,
  (SELECT oid::text FROM pg_database WHERE datname = current_database()) AS database FROM pg_control_system()`
