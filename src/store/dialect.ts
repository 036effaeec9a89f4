/** The few places where the SQL of the two databases differs. */
export interface Dialect {
  /** `column` is one of a list, which is one `?` and is given as an array of `type`. */
  isOneOf(column: string, type: 'text' | 'bigint'): string
  /** The function that gives the largest of its values. */
  greatest: string
  /** Ends a query of rows to change: those of another transaction are passed over. */
  skipLocked: string
}

export const SQLITE: Dialect = {
  isOneOf: (column) => `${column} IN (SELECT value FROM json_each(?))`,
  greatest: 'max',
  // One transaction writes at a time.
  skipLocked: '',
}

export const POSTGRES: Dialect = {
  isOneOf: (column, type) => `${column} = ANY (?::${type}[])`,
  greatest: 'greatest',
  skipLocked: 'FOR UPDATE SKIP LOCKED',
}
