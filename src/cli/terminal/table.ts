import { formatText } from './format-value.ts'
import type { Output, Style } from './output.ts'

/** One column of a table. */
export interface Column<Row> {
  title: string
  /** The value of a row; null is shown as a dash. */
  value: (row: Row) => string | number | null
  /** Maximum length in characters; a longer value is cut. Default unlimited. */
  most?: number
  /** Default `left`. */
  align?: 'left' | 'right'
  style?: (row: Row) => Style | null
}

/** Lines of a table with a header, each column as wide as its longest value; none for no rows. */
export function formatTable<Row>(
  rows: readonly Row[],
  columns: readonly Column<Row>[],
  paint: Output['paint'],
): string[] {
  if (rows.length === 0) return []
  const cells = rows.map((row) => columns.map(({ value, most }) => formatText(String(value(row) ?? '–'), most)))
  const widths = columns.map(({ title }, index) =>
    Math.max(title.length, ...cells.map((line) => line[index]?.length ?? 0)),
  )
  const join = (line: readonly string[], paintCell: (text: string, index: number) => string) =>
    line
      .map((text, index) => {
        const gap = ' '.repeat((widths[index] ?? 0) - text.length)
        const painted = paintCell(text, index)
        return columns[index]?.align === 'right' ? gap + painted : painted + gap
      })
      .join('  ')
      .trimEnd()
  const head = join(
    columns.map(({ title }) => title),
    (text) => paint('dim', text),
  )
  const body = rows.map((row, number) =>
    join(cells[number] ?? [], (text, index) => {
      const style = columns[index]?.style?.(row)
      return style ? paint(style, text) : text
    }),
  )
  return [head, ...body]
}

/** Indented lines under a bold title, after an empty line; none for no lines. */
export function formatSection(title: string, lines: readonly string[], paint: Output['paint']): string[] {
  return lines.length === 0 ? [] : ['', paint('bold', title), ...lines.map((line) => `  ${line}`)]
}
