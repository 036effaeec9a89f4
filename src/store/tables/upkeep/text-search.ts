import { createEraser, type Words } from '../../../core/safety/create-eraser.ts'
import type { FoundText, TextKey } from '../../../core/store/search-texts.ts'
import { nameOf, Table } from '../../connection.ts'
import { unpackOutput } from '../runs/output-table.ts'
import { type TextTable, textTables } from './text-columns.ts'

interface TextQuery {
  words: Words
  table: string
  /** The `next` of the stretch before; null at first. */
  after: TextKey | null
}

interface TextStretch {
  found: FoundText[]
  /** Rows that were looked at. */
  rows: number
  /** Null: the table is at its end. */
  next: TextKey | null
}

/** Rows of a stretch. Compressed ones may have 32 MiB each. */
const ROWS = 2_000
const PACKED_ROWS = 20

type Row = Record<string, string | number | Uint8Array | null>

/** Finds words in the texts of all tables, a stretch of one table at a time. */
export class TextSearch extends Table {
  readonly #tables: ReadonlyMap<string, TextTable> = new Map(
    textTables(this.db.sql.bodies).map((each) => [each.table, each]),
  )

  async listTextTables(): Promise<string[]> {
    return [...this.#tables.keys()]
  }

  get(table: string): TextTable {
    const found = this.#tables.get(table)
    if (found === undefined) throw new TypeError(`no text is in the table "${table}"`)
    return found
  }

  /** A run that may still act by an approval, whose hash covers all of it. Index: primary keys. */
  readonly #findResting = this.readValue<[approval: string], string>(
    `SELECT work.run_id FROM approval_item AS item JOIN work ON work.run_id = item.run_id
       LEFT JOIN step ON step.run_id = item.run_id AND step.key = item.step
     WHERE item.approval = ? AND item.state IN ('open', 'approved') AND step.effect_seq IS NULL LIMIT 1`,
  )

  /** Index: the primary key of each table, or the one that `TextTable.key` names. */
  async findTexts({ words, table, after }: TextQuery): Promise<TextStretch> {
    const place = this.get(table)
    const keys = place.key.join(', ')
    const marks = place.key.map(() => '?').join(', ')
    const limit = place.packed === undefined ? ROWS : PACKED_ROWS
    const begin = after === null ? '' : `WHERE (${keys}) > (${marks})`
    const from = after ?? []
    const stretch = await this.db
      .prepare<unknown[], Row>(`SELECT ${keys} FROM ${table} ${begin} ORDER BY ${keys} LIMIT ${limit}`)
      .all(...from)
    const last = stretch.at(-1)
    if (last === undefined) return { found: [], rows: 0, next: null }
    const end = keyOf(place, last)
    const eraser = createEraser(words)
    const texts = textColumns(place)
    const within = [...(after === null ? [] : [`(${keys}) > (${marks})`]), `(${keys}) <= (${marks})`]
    const columns = [...new Set([...place.key, ...texts, ...(place.packed === undefined ? [] : [place.packed])])]
    const hinted = eraser.hint === null || place.packed !== undefined ? [] : [hintedBy(texts, eraser.hint)]
    const rows = await this.db
      .prepare<unknown[], Row>(
        `SELECT ${columns.join(', ')}, ${place.neededBy ?? 'NULL'} AS needed_by FROM ${table} AS given
         WHERE ${[...within, ...hinted].join(' AND ')} ORDER BY ${keys}`,
      )
      .all(...from, ...end)
    const found: FoundText[] = []
    const resting = new Map<unknown, string | null>()
    for (const row of rows) {
      const hits = texts.filter((column) => eraser.isIn(String(row[nameOf(column)] ?? '')))
      const bytes = place.packed === undefined ? null : (row[place.packed] as Uint8Array)
      if (place.packed !== undefined && bytes !== null && eraser.isIn(await unpackOutput(bytes)))
        hits.push(place.packed)
      if (hits.length === 0) continue
      const approval = place.approval && row[place.approval]
      if (approval && !resting.has(approval)) resting.set(approval, await this.#findResting(String(approval)))
      const neededBy = row.neededBy ?? resting.get(approval) ?? null
      found.push({ key: keyOf(place, row), columns: hits, neededBy: neededBy as string | null })
    }
    return { found, rows: stretch.length, next: stretch.length < limit ? null : end }
  }
}

/** The columns of text that are not compressed. */
export function textColumns({ texts = [], names = [] }: TextTable): string[] {
  return [...texts, ...names]
}

function keyOf({ key }: TextTable, row: Row): TextKey {
  return key.map((column) => row[nameOf(column)] as string | number)
}

/** The hint has letters and digits only, so that nothing in it is a wildcard. */
function hintedBy(columns: readonly string[], hint: string): string {
  return `(${columns.map((column) => `lower(given.${column}) LIKE '%${hint}%'`).join(' OR ')})`
}
