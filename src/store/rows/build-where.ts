/** A condition of a list, with a value for each of its `?`. */
export type Condition = readonly [text: string, ...values: unknown[]]

/** The WHERE clause that joins conditions by AND, empty without any, and its values in order. */
export function buildWhere(conditions: readonly Condition[]): { where: string; values: unknown[] } {
  const where = conditions.length === 0 ? '' : `WHERE ${conditions.map(([text]) => text).join(' AND ')}`
  return { where, values: conditions.flatMap(([, ...values]) => values) }
}

/** Sorts after every id that begins so: `{` follows `z`. */
export function afterAll(beginning: string): string {
  return `${beginning}{`
}

/** A pattern for `LIKE … ESCAPE '\'` that finds the text anywhere. */
export function likePattern(text: string): string {
  return `%${text.replace(/[\\%_]/g, '\\$&')}%`
}
