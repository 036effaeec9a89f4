import { formatText } from './format-value.ts'
import type { Output, Style } from './output.ts'

/** How one value of each row is shown. */
export interface Column<Row> {
  title: string
  /** Null is shown as a dash. */
  value: (row: Row) => string | number | null
  /** Characters after which a value is cut. */
  most?: number
  /** Default `left`. */
  align?: 'left' | 'right'
  style?: (row: Row) => Style | null
}

/** Rows under their titles, in columns as wide as what they hold; nothing for no rows. */
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
