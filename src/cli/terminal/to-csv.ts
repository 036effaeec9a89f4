/** CSV with a header (RFC 4180). A cell that a spreadsheet would read as a formula gets a quote. */
export function toCsv(rows: readonly Record<string, string | number | null>[]): string {
  const [first] = rows
  if (first === undefined) return ''
  const line = (cells: readonly (string | number | null)[]) => cells.map(toCell).join(',')
  return `${[Object.keys(first), ...rows.map((row) => Object.values(row))].map(line).join('\r\n')}\r\n`
}

function toCell(value: string | number | null): string {
  const text = value === null ? '' : String(value)
  const safe = typeof value === 'string' && /^[=+\-@\t\r]/.test(text) ? `'${text}` : text
  return /[",\r\n]/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe
}
