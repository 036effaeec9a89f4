/** Rows of a call as JSON text; null for none. */
export function asJson(rows: readonly object[]): string | null {
  if (rows.length === 0) return null
  const text = JSON.stringify(rows)
  return REFUSED.test(text) ? JSON.stringify(rows, (_, value) => toStorable(value)) : text
}

/** The character 0 and halves of a pair, which PostgreSQL's text cannot hold. */
const REFUSED = /\\u(?:0000|d[89a-f])/

function toStorable(value: unknown): unknown {
  return typeof value === 'string' ? value.toWellFormed().replaceAll('\0', '\u{fffd}') : value
}
