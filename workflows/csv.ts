/** First characters that a spreadsheet may read as a formula, and the apostrophe itself. */
const FORMULA_START = /^['=+\-@＝＋－＠\s]/

/**
 * Writes CSV as in RFC 4180 that is safe to open in a spreadsheet. Text that looks like a formula
 * gets an apostrophe in front.
 */
export function toCsv(rows: Iterable<readonly (string | number | null)[]>): string {
  let csv = ''
  for (const row of rows) csv += `${row.map(toCell).join(',')}\r\n`
  return csv
}

/** Reads rows that {@link toCsv} wrote, with every cell as text. */
export function parseCsv(csv: string): string[][] {
  const rows: string[][] = []
  let row: string[] = []
  for (const [, quoted, plain = '', end] of csv.matchAll(/(?:"([^"]*(?:""[^"]*)*)"|([^",\r\n]*))(,|\r\n)/g)) {
    row.push((quoted?.replaceAll('""', '"') ?? plain).replace(/^'/, ''))
    if (end === ',') continue
    rows.push(row)
    row = []
  }
  return rows
}

function toCell(value: string | number | null): string {
  const text = typeof value === 'string' && FORMULA_START.test(value) ? `'${value}` : String(value ?? '')
  return /[",;\t\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text
}
