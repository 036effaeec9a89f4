/** A condition of a list, with a value for each of its `?`. */
export type Condition = readonly [text: string, ...values: unknown[]]

/** The WHERE clause that joins conditions by AND, empty without any, and its values in order. */
export function buildWhere(conditions: readonly Condition[]): { where: string; values: unknown[] } {
  const where = conditions.length === 0 ? '' : `WHERE ${conditions.map(([text]) => text).join(' AND ')}`
  return { where, values: conditions.flatMap(([, ...values]) => values) }
}

/** The conditions, by their texts, whose one value is given. */
export function given(values: Record<string, unknown>): Condition[] {
  return Object.entries(values).filter(([, value]) => value !== undefined)
}

/**
 * SQL that a column has a text of any length, which is SQL, too. An index has its first 500
 * characters: in PostgreSQL, an entry has 2,704 bytes at the most.
 */
export function isLongText(column: string, text: string): string {
  return `substr(${column}, 1, 500) = substr(${text}, 1, 500) AND ${column} = ${text}`
}

/** Bounds of ids: from the one on, below the other. */
export interface IdSpan {
  from?: string | undefined
  below?: string | undefined
}

export function narrowSpan(a: IdSpan, b: IdSpan): IdSpan {
  return {
    from: a.from === undefined || (b.from !== undefined && b.from > a.from) ? b.from : a.from,
    below: a.below === undefined || (b.below !== undefined && b.below < a.below) ? b.below : a.below,
  }
}

/**
 * The conditions of a span, one of each kind. Of two lower bounds SQLite searches an index by the
 * first, and reads all rows up to the second.
 */
export function boundIds(column: string, { from, below }: IdSpan): Condition[] {
  return given({ [`${column} >= ?`]: from, [`${column} < ?`]: below })
}

/** Sorts after every id that begins so: `{` follows `z`. */
export function afterAll(beginning: string): string {
  return `${beginning}{`
}

/** A pattern for `LIKE … ESCAPE '\'` that finds the text anywhere. */
export function likePattern(text: string): string {
  return `%${text.replace(/[\\%_]/g, '\\$&')}%`
}
