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
  /** Bytes of the log that the slowest standby has not applied; null: unknown, or there is none. */
  lagBytes: number | null
  /** From this moment on, new runs have no week of their own. Null: no week was made. */
  weeksUntil: number | null
}
