import { columnsOf, cutEnd, cutFront } from '../../notices/log/fit-text.ts'
import { formatText } from './format-value.ts'
import type { Output, Style } from './output.ts'

export interface Column<Row> {
  title: string
  /** The value of a row; null is shown as a dash. */
  value: (row: Row) => string | number | null
  /** Maximum width in columns of the terminal; a wider value is cut. Default unlimited. */
  most?: number
  /** The width below which the column says too little, where its values are wider. Default 8. */
  least?: number
  /** Left out, the last such column first, where others would be narrower than their `least`. */
  isMinor?: boolean
  /** Left out where no row has a value. */
  isRare?: boolean
  /**
   * Where a value is cut, also to fit the terminal. `start` suits paths: their names differ at the
   * end. `never` suits values that a person types again. Default `end`.
   */
  cut?: 'start' | 'end' | 'never'
  /** Ids: at a terminal each of ours is as short as stays unique, and whole otherwise. */
  isId?: boolean
  /** Default `left`. */
  align?: 'left' | 'right'
  style?: (row: Row) => Style | null
}

export type Layout = Pick<Output, 'paint' | 'width'>

const GAP = '  '
const MIN_WIDTH = 8

interface Cells<Row> {
  column: Column<Row>
  texts: string[]
  /** Width of its widest text, or of its title. */
  natural: number
  /** It is cut to no less, however narrow the terminal is. */
  least: number
}

/** Lines of a table with a header, cut to the width of the terminal; none for no rows. */
export function formatTable<Row>(
  rows: readonly Row[],
  columns: readonly Column<Row>[],
  { paint, width }: Layout,
): string[] {
  if (rows.length === 0) return []
  const told = columns.filter(({ isRare, value }) => !isRare || rows.some((row) => value(row) !== null))
  const all = told.map((column) => measure(rows, column, width !== null))
  const shown = width === null ? all : leaveOutMinor(all, width)
  const widths = width === null ? shown.map(({ natural }) => natural) : fitWidths(shown, width)
  const join = (textOf: (cells: Cells<Row>) => string, styleOf: (column: Column<Row>) => Style | null) =>
    shown
      .map((cells, index) => {
        const { align, cut } = cells.column
        const room = widths[index] ?? 0
        const text = cutCell(textOf(cells), room, cut)
        const gap = ' '.repeat(room - columnsOf(text))
        const style = styleOf(cells.column)
        const painted = style ? paint(style, text) : text
        return align === 'right' ? gap + painted : painted + gap
      })
      .join(GAP)
      .trimEnd()
  const head = join(
    ({ column }) => column.title,
    () => 'dim',
  )
  const body = rows.map((row, number) =>
    join(
      ({ texts }) => texts[number] ?? '',
      ({ style }) => style?.(row) ?? null,
    ),
  )
  return [head, ...body]
}

function measure<Row>(rows: readonly Row[], column: Column<Row>, isTerminal: boolean): Cells<Row> {
  const { title, cut, isId = false, least = MIN_WIDTH } = column
  const values = rows.map((row) => formatCell(row, column))
  const texts = isTerminal && isId ? shortenIds(values) : values
  const natural = widest(texts, title.length)
  // A short id of ours is typed again, so it is never cut.
  const kept = isId
    ? texts.filter((text, index) => OWN_ID.test(values[index] ?? '') || columnsOf(text) <= SHORT_ID)
    : []
  const floor = widest(kept, Math.max(title.length, least))
  return { column, texts, natural, least: cut === 'never' ? natural : Math.min(natural, floor) }
}

/** One by one: a call takes no more than some 100,000 arguments. */
function widest(texts: readonly string[], least: number): number {
  return texts.reduce((most, text) => Math.max(most, columnsOf(text)), least)
}

/** Leaves out minor columns until the others fit, or none is left. */
function leaveOutMinor<Row>(all: readonly Cells<Row>[], width: number): Cells<Row>[] {
  const shown = [...all]
  while (sumWidths(shown.map(({ least }) => least)) > width) {
    const last = shown.findLastIndex(({ column }) => column.isMinor)
    if (last === -1) break
    shown.splice(last, 1)
  }
  return shown
}

function sumWidths(widths: readonly number[]): number {
  return widths.reduce((sum, cell) => sum + cell, 0) + GAP.length * (widths.length - 1)
}

function formatCell<Row>(row: Row, { value, most, cut }: Column<Row>): string {
  const text = formatText(String(value(row) ?? '–'))
  return most === undefined ? text : cutCell(text, most, cut)
}

function cutCell(text: string, most: number, cut: Column<unknown>['cut']): string {
  return cut === 'start' ? cutFront(text, most) : cutEnd(text, most)
}

/** Prefix, time and counter of an id of ours: unique for one process. */
const SHORT_ID = 17
const OWN_ID = /^[a-z]{3}_[\da-hjkmnp-tv-z]{23}$/

/** Cuts the ids of ours behind the first digit that tells all of them apart. */
function shortenIds(texts: readonly string[]): string[] {
  const ids = [...new Set(texts)].filter((text) => OWN_ID.test(text))
  let length = SHORT_ID
  while (new Set(ids.map((id) => id.slice(0, length))).size < ids.length) length += 1
  return texts.map((text) => (OWN_ID.test(text) ? text.slice(0, length) : text))
}

/** Takes from the widest column that may be cut, until the table fits or each is at its least. */
function fitWidths<Row>(cells: readonly Cells<Row>[], width: number): number[] {
  const widths = cells.map(({ natural }) => natural)
  const spare = (index: number) => (widths[index] ?? 0) - (cells[index]?.least ?? 0)
  let excess = sumWidths(widths) - width
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

/** Indented lines under a bold title, after an empty line; none for no lines. */
export function formatSection(title: string, lines: readonly string[], paint: Output['paint']): string[] {
  return lines.length === 0 ? [] : ['', paint('bold', title), ...lines.map((line) => `  ${line}`)]
}

/** A table as a section; none for no rows. */
export function formatRows<Row>(title: string, rows: readonly Row[], columns: readonly Column<Row>[], layout: Layout) {
  return formatSection(title, formatTable(rows, columns, indented(layout)), layout.paint)
}

/** Names with their values, a line for each that is not null. */
export function formatFacts(facts: readonly (readonly [name: string, value: string | null])[], width = 9): string[] {
  return facts.flatMap(([name, value]) => (value === null ? [] : [`  ${name.padEnd(width)} ${value}`]))
}

/** The layout of a table that `formatSection` indents. */
export function indented(layout: Layout): Layout {
  return { ...layout, width: layout.width === null ? null : layout.width - 2 }
}
