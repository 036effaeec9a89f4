/** A condition of a list, with the value for its one `?`. */
export type Condition = readonly [text: string, value: unknown]

/** The WHERE clause that joins conditions by AND, empty without any, and its values in order. */
export function buildWhere(conditions: readonly Condition[]): { where: string; values: unknown[] } {
  const where = conditions.length === 0 ? '' : `WHERE ${conditions.map(([text]) => text).join(' AND ')}`
  return { where, values: conditions.map(([, value]) => value) }
}
