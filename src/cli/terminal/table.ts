import { formatText } from './format-value.ts'
import type { Output, Style } from './output.ts'

/** One column of a table. */
export interface Column<Row> {
  title: string
  /** The value of a row; null is shown as a dash. */
  value: (row: Row) => string | number | null
  /** Maximum length in characters; a longer value is cut. Default unlimited. */
  most?: number
  /**
   * Where a value is cut, also to fit the terminal. `start` suits paths: their names differ at the
   * end. `never` suits values that a person types again. Default `end`.
   */
  cut?: 'start' | 'end' | 'never'
  /** Ids: at a terminal each is as short as stays unique, and whole otherwise. */
  isId?: boolean
  /** Default `left`. */
  align?: 'left' | 'right'
  style?: (row: Row) => Style | null
}

/** The part of an output that a table needs. */
export type Layout = Pick<Output, 'paint' | 'width'>

const GAP = '  '
/** A column is cut to no fewer characters, however narrow the terminal is. */
const MIN_WIDTH = 8

/** Lines of a table with a header, cut to the width of the terminal; none for no rows. */
export function formatTable<Row>(
  rows: readonly Row[],
  columns: readonly Column<Row>[],
  { paint, width }: Layout,
): string[] {
  if (rows.length === 0) return []
  const values = rows.map((row) => columns.map((column) => formatCell(row, column)))
  const cells = width === null ? values : shortenIds(values, columns)
  const natural = columns.map(({ title }, index) =>
    Math.max(title.length, ...cells.map((line) => line[index]?.length ?? 0)),
  )
  const widths = width === null ? natural : fitWidths(natural, columns, width)
  const join = (line: readonly string[], paintCell: (text: string, index: number) => string) =>
    line
      .map((text, index) => {
        const shown = cutText(text, widths[index] ?? 0, columns[index]?.cut)
        const gap = ' '.repeat((widths[index] ?? 0) - shown.length)
        const painted = paintCell(shown, index)
        return columns[index]?.align === 'right' ? gap + painted : painted + gap
      })
      .join(GAP)
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

function formatCell<Row>(row: Row, { value, most = Number.POSITIVE_INFINITY, cut }: Column<Row>): string {
  return cutText(formatText(String(value(row) ?? '–')), most, cut)
}

/** Prefix, time and counter of an id of ours: unique for one process. */
const SHORT_ID = 17
const OWN_ID = /^[a-z]{3}_[\da-hjkmnp-tv-z]{23}$/

/** Cuts the ids of each column behind the first digit that tells all of them apart. */
function shortenIds<Row>(values: readonly string[][], columns: readonly Column<Row>[]): string[][] {
  const lengths = columns.map(({ isId = false }, index) => {
    const ids = [...new Set(values.map((line) => line[index] ?? ''))].filter((text) => isId && OWN_ID.test(text))
    let length = SHORT_ID
    while (new Set(ids.map((id) => id.slice(0, length))).size < ids.length) length += 1
    return length
  })
  return values.map((line) =>
    line.map((text, index) => (columns[index]?.isId && OWN_ID.test(text) ? text.slice(0, lengths[index]) : text)),
  )
}

/** Takes from the widest column that may be cut, until the table fits or each is at its minimum. */
function fitWidths<Row>(natural: readonly number[], columns: readonly Column<Row>[], width: number): number[] {
  const widths = [...natural]
  const least = columns.map(({ title, cut, isId }, index) =>
    cut === 'never' || isId ? (natural[index] ?? 0) : Math.max(title.length, MIN_WIDTH),
  )
  const spare = (index: number) => (widths[index] ?? 0) - (least[index] ?? 0)
  let excess = widths.reduce((sum, cell) => sum + cell, 0) + GAP.length * (widths.length - 1) - width
  while (excess > 0) {
    const open = widths.map((_, index) => index).filter((index) => spare(index) > 0)
    if (open.length === 0) return widths
    const widest = open.reduce((a, b) => ((widths[b] ?? 0) > (widths[a] ?? 0) ? b : a))
    const next = Math.max(0, ...open.filter((index) => index !== widest).map((index) => widths[index] ?? 0))
    const step = Math.min(excess, spare(widest), Math.max(1, (widths[widest] ?? 0) - next))
    widths[widest] = (widths[widest] ?? 0) - step
    excess -= step
  }
  return widths
}

function cutText(text: string, most: number, cut: Column<never>['cut'] = 'end'): string {
  if (text.length <= most) return text
  return cut === 'start' ? `…${text.slice(text.length - most + 1)}` : `${text.slice(0, most - 1)}…`
}

/** Indented lines under a bold title, after an empty line; none for no lines. */
export function formatSection(title: string, lines: readonly string[], paint: Output['paint']): string[] {
  return lines.length === 0 ? [] : ['', paint('bold', title), ...lines.map((line) => `  ${line}`)]
}

/** The layout of a table that `formatSection` indents. */
export function indented(layout: Layout): Layout {
  return { ...layout, width: layout.width === null ? null : layout.width - 2 }
}
