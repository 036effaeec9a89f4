import { hash } from 'node:crypto'
import type { Database } from 'better-sqlite3'
import type pg from 'pg'
import { UpshotError } from '../../core/errors.ts'
import { LEFT_OUT, selectFor } from './table-selects.ts'

/** A table of PostgreSQL, with the columns that a row brings. */
interface TargetTable {
  name: string
  columns: string[]
}

type Value = string | number | null

/** Rows of a table, added up without regard to their order. */
interface Sum {
  rows: number
  sum: number
}

/** One message holds this much at most. */
const MAX_ROWS = 2_000
const MAX_CHARACTERS = 4_000_000

/** Tables whose rows others refer to. */
const FIRST = ['endpoint', 'workflow']

/** Tables to copy, in an order in which every row finds those that it refers to. */
export async function listTargets(client: pg.Client): Promise<TargetTable[]> {
  const { rows } = await client.query<TargetTable>(
    `SELECT c.relname::text AS name, array_agg(a.attname::text ORDER BY a.attnum) AS columns
     FROM pg_class AS c JOIN pg_attribute AS a ON a.attrelid = c.oid AND a.attnum > 0 AND NOT a.attisdropped
         AND a.attgenerated = ''
     WHERE c.relnamespace = current_schema()::regnamespace AND c.relkind IN ('r', 'p')
       AND NOT c.relispartition AND c.relname <> ALL ($1)
       AND NOT (a.attname = 'number' AND a.attidentity <> '')
     GROUP BY c.relname ORDER BY c.relname`,
    [LEFT_OUT],
  )
  const rank = ({ name }: TargetTable) => (FIRST.includes(name) ? 0 : 1)
  return rows.sort((a, b) => rank(a) - rank(b))
}

/** Copies the rows of a table, and reads them back. Throws `internal` where the sides differ. */
export async function copyTable(
  source: Database,
  client: pg.Client,
  { table, onRows }: { table: TargetTable; onRows: (rows: number) => void },
): Promise<number> {
  const sent = await send(source, client, { table, onRows })
  const found = await addUp(client, table)
  if (sent.rows === found.rows && sent.sum === found.sum) return sent.rows
  throw new UpshotError(
    'internal',
    `Table ${table.name} has ${found.rows} rows in PostgreSQL, and they differ from the ${sent.rows} of the file.`,
    { details: { fix: 'Nothing was changed. Check the file with "upshot db verify".' } },
  )
}

async function send(
  source: Database,
  client: pg.Client,
  { table: { name, columns }, onRows }: { table: TargetTable; onRows: (rows: number) => void },
): Promise<Sum> {
  const list = columns.map((column) => `"${column}"`).join(', ')
  const insert =
    `INSERT INTO "${name}" (${list}) OVERRIDING SYSTEM VALUE ` +
    `SELECT ${list} FROM json_populate_recordset(NULL::"${name}", $1::json)`
  const total: Sum = { rows: 0, sum: 0 }
  let batch: string[] = []
  let characters = 0
  const flush = async () => {
    if (batch.length === 0) return
    await client.query(insert, [`[${batch.join(',')}]`])
    onRows(batch.length)
    batch = []
    characters = 0
  }
  const statement = source.prepare<[], Record<string, unknown>>(selectFor(name, columns))
  for (const row of statement.iterate()) {
    const values = columns.map((column) => normalize(row[column]))
    add(total, values)
    const text = JSON.stringify(Object.fromEntries(columns.map((column, index) => [column, values[index]])))
    batch.push(text)
    characters += text.length
    if (batch.length >= MAX_ROWS || characters >= MAX_CHARACTERS) await flush()
  }
  await flush()
  return total
}

/** Reads the rows of the target, as they are after its own conversions. */
async function addUp(client: pg.Client, { name, columns }: TargetTable): Promise<Sum> {
  const total: Sum = { rows: 0, sum: 0 }
  const list = columns.map((column) => `"${column}"`).join(', ')
  await client.query(`DECLARE copied NO SCROLL CURSOR FOR SELECT ${list} FROM "${name}"`)
  for (;;) {
    const { rows } = await client.query({ text: `FETCH ${MAX_ROWS} FROM copied`, rowMode: 'array' })
    for (const row of rows as unknown[][]) add(total, row.map(normalize))
    if (rows.length < MAX_ROWS) break
  }
  await client.query('CLOSE copied')
  return total
}

/** PostgreSQL's text cannot hold the character 0. */
function normalize(value: unknown): Value {
  if (value === null || value === undefined) return null
  if (Buffer.isBuffer(value)) return `\\x${value.toString('hex')}`
  return typeof value === 'string' ? value.replaceAll('\0', '\u{fffd}') : Number(value)
}

/** The first 48 bits of each row's hash, modulo 2^48. */
function add(total: Sum, values: readonly Value[]): void {
  const digest = hash('sha256', JSON.stringify(values), 'buffer')
  total.rows += 1
  total.sum = (total.sum + digest.readUIntBE(0, 6)) % 2 ** 48
}
