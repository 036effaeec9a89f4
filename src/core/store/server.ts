import type { WeekKind } from './retention.ts'

/** Facts of the server that keeps the database, for those who watch it. */
export interface ServerState {
  databaseBytes: number
  connections: number
  mostConnections: number
  /** Age of the oldest transaction that our user may see, in seconds. Vacuum keeps rows for it. */
  oldestTransactionS: number
  /** Dead rows of the queue, which claims step over. */
  deadRows: number
  standbys: number
  /** Each commit waits for a standby. */
  isReplicated: boolean
  /** Bytes of the log that the slowest standby has not applied; null: unknown, or there is none. */
  lagBytes: number | null
  /** From this moment on, new runs have no week of their own. Null: no week was made. */
  weeksUntil: number | null
}

/** The rows of a kind that retention removes by the week. */
export interface WeekRoom {
  kind: WeekKind
  /** Weeks that have begun and are not removed, the present one included. */
  kept: number
  /** The oldest of them, which goes first; null: it is the present one, or none was made. */
  oldest: { from: number; to: number; bytes: number } | null
  /** From this moment on, new rows have no week of their own. Null: no week was made. */
  until: number | null
}

export interface ServerRoom {
  /** Of all programs in it. */
  databaseBytes: number
  /** The largest tables, with their weeks, indexes and long values; largest first. */
  tables: { table: string; bytes: number }[]
  weeks: WeekRoom[]
}
