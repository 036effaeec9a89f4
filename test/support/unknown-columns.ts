import { PLAIN_COLUMNS, textTables } from '../../src/store/tables/upkeep/text-columns.ts'

/** Columns of a schema in neither list, those of a list that are not there, and those in both. */
export function listUnknownColumns(
  bodies: 'event' | 'event_body',
  columns: readonly { table: string; column: string }[],
) {
  const texts = textTables(bodies).flatMap(({ table, texts = [], names = [], packed }) =>
    [...texts, ...names, ...(packed === undefined ? [] : [packed])].map((column) => `${table}.${column}`),
  )
  const plain = Object.entries(PLAIN_COLUMNS).flatMap(([table, names]) =>
    names.split(' ').map((column) => `${table}.${column}`),
  )
  const known = new Set([...texts, ...plain])
  const there = new Set(columns.map(({ table, column }) => `${table}.${column}`))
  return {
    unknown: [...there].filter((column) => !known.has(column)),
    gone: [...known].filter((column) => !there.has(column)),
    twice: texts.filter((column) => plain.includes(column)),
  }
}
