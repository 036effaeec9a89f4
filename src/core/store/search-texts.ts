import type { Words } from '../safety/create-eraser.ts'
import type { ReadStore } from './store.ts'

/** Identifies a row of a table. */
export type TextKey = readonly (string | number)[]

export interface FoundText {
  key: TextKey
  columns: readonly string[]
  /** The unfinished run that needs the row, or the schedule; null: nothing does. */
  neededBy: string | null
}

/** Rows whose text goes. */
export interface TextErasure {
  words: Words
  table: string
  keys: readonly TextKey[]
  /** The ledger keeps both, where its own rows change. */
  actor: string
  reason: string | null
  now: number
}

/** Rows of a table with the words, by column. */
interface TextPlace {
  table: string
  column: string
  rows: number
}

interface TextReport {
  places: TextPlace[]
  /** Rows with the words, and rows that were looked at. */
  rows: number
  searched: number
  /** Unfinished runs, schedules and operations that need such a row: the first 100. */
  neededBy: string[]
}

const NAMED = 100

/** Looks through every table, a stretch at a time, and tells `onFound` and `onLooked` of each. */
export async function searchTexts(
  store: Pick<ReadStore, 'listTextTables' | 'findTexts'>,
  words: Words,
  { signal, onFound = async () => {}, onLooked = () => {} }: SearchOptions = {},
): Promise<TextReport> {
  const report: TextReport = { places: [], rows: 0, searched: 0, neededBy: [] }
  const needed = new Set<string>()
  for (const table of await store.listTextTables()) {
    const counts = new Map<string, number>()
    for (let after: TextKey | null = null, isFirst = true; isFirst || after !== null; isFirst = false) {
      signal?.throwIfAborted()
      const { found, rows, next } = await store.findTexts({ words, table, after })
      after = next
      report.searched += rows
      report.rows += found.length
      for (const { columns, neededBy } of found) {
        for (const column of columns) counts.set(column, (counts.get(column) ?? 0) + 1)
        if (neededBy !== null && needed.size < NAMED) needed.add(neededBy)
      }
      if (found.length > 0) await onFound(table, found)
      onLooked(report.searched)
    }
    for (const [column, rows] of counts) report.places.push({ table, column, rows })
  }
  return { ...report, neededBy: [...needed] }
}

interface SearchOptions {
  signal?: AbortSignal
  /** Gets the rows with the words. */
  onFound?: (table: string, found: readonly FoundText[]) => Promise<void>
  /** Gets the number of all rows that were looked at so far. */
  onLooked?: (rows: number) => void
}
