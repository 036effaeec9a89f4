/** The few places where the SQL of the two databases differs. */
export interface Dialect {
  /** `column` is one of a list, which is one `?` and is given as an array of `type`. */
  isOneOf(column: string, type: 'text' | 'bigint'): string
  /** `column` is among what a query gives, which is read first. */
  isAmong(column: string, query: string): string
  /** The rows of a list of lists, as JSON in one `?`; each is `value`. */
  rows: string
  /** Behind the name of a table: read along this index, or along its primary key. */
  along(index: string | null): string
  /** The row of `event` with this number. */
  isEvent(seq: string): string
  /** A column of a run that its work has, and then its outcome. */
  ofRun(column: 'fence' | 'code_hash', run: string): string
  /** The function that gives the largest of its values. */
  greatest: string
  /** Ends a query of rows to change: those of another transaction are passed over. */
  skipLocked: string
  /**
   * A statement that takes a lock of this name to the end of the transaction. `try` gives 0 where
   * another has it.
   */
  lock(name: LockName, how: 'alone' | 'shared' | 'try'): string
}

/** `effects`: decisions about effects. `ledger`: rows of the effect ledger, and its seals. */
type LockName = 'effects' | 'ledger'

/** One transaction writes at a time, so that nothing has to be locked. */
export const SQLITE: Dialect = {
  isOneOf: (column) => `${column} IN (SELECT value FROM json_each(?))`,
  isAmong: (column, query) => `${column} IN (${query})`,
  rows: 'json_each(?)',
  along: (index) => (index === null ? 'NOT INDEXED' : `INDEXED BY ${index}`),
  isEvent: (seq) => `event.seq = ${seq}`,
  ofRun: (column, run) => `(SELECT ${column} FROM run AS one WHERE one.id = ${run})`,
  greatest: 'max',
  skipLocked: '',
  lock: () => 'SELECT 1',
}

const LOCKS = {
  alone: 'pg_advisory_xact_lock',
  shared: 'pg_advisory_xact_lock_shared',
  try: 'pg_try_advisory_xact_lock',
}

export const POSTGRES: Dialect = {
  isOneOf: (column, type) => `${column} = ANY (?::${type}[])`,
  isAmong: (column, query) => `${column} = ANY (ARRAY(${query}))`,
  rows: 'json_array_elements(?::json)',
  along: () => '',
  isEvent: (seq) => `event.seq = ${seq} AND event.stream = ${seq} % 8`,
  ofRun: (column, run) => `coalesce(
    (SELECT ${column} FROM work WHERE run_id = ${run}), (SELECT ${column} FROM outcome WHERE run_id = ${run}))`,
  greatest: 'greatest',
  skipLocked: 'FOR UPDATE SKIP LOCKED',
  // Such locks belong to the database, which may have several schemas of ours.
  lock: (name, how) =>
    `SELECT ${LOCKS[how]}(hashtextextended('${name} ' || current_schema(), 0))${how === 'try' ? '::int' : ''}`,
}
