import type { Words } from '../../safety/create-eraser.ts'

/** Identifies a row of a table. */
export type TextKey = readonly (string | number)[]

/** A stretch of a table that is searched. */
export interface TextQuery {
  words: Words
  table: string
  /** The `next` of the stretch before; null at first. */
  after: TextKey | null
}

/** A row with the words. */
export interface FoundText {
  key: TextKey
  columns: readonly string[]
  /** The unfinished run that needs the row, or the schedule; null: nothing does. */
  neededBy: string | null
}

export interface TextStretch {
  found: FoundText[]
  /** Rows that were looked at. */
  rows: number
  /** Null: the table is at its end. */
  next: TextKey | null
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

export interface TextReads {
  /** The tables with text of people. */
  listTextTables(): Promise<string[]>
  findTexts(query: TextQuery): Promise<TextStretch>
}

export interface TextWrites {
  /** Erases words in one small commit; returns the rows that had them. */
  eraseTexts(erasure: TextErasure): Promise<number>
}
