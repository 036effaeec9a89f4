import type { Client, QueryResultRow } from 'pg'
import type { Lock, Connection as SharedConnection, Statement, Values } from '../../connection.ts'
import { POSTGRES } from '../../dialect.ts'
import { Call } from './calls/call.ts'
import { MessageBuffer } from './calls/message-buffer.ts'

const LOCKS: Record<Lock, string> = {
  alone: 'pg_advisory_xact_lock',
  shared: 'pg_advisory_xact_lock_shared',
  try: 'pg_try_advisory_xact_lock',
}

/** A connection to the server, as the tables see it. */
export class Connection implements SharedConnection {
  readonly sql = POSTGRES
  readonly #client: Pick<Client, 'query'>
  readonly #buffer = new MessageBuffer()

  constructor(client: Pick<Client, 'query'>) {
    this.#client = client
  }

  /** Prepares nothing in the server, since a pooler may give each transaction another session. */
  prepare<Given extends unknown[] | object = unknown[], Row = unknown>(text: string): Statement<Values<Given>, Row> {
    return this.#createStatement(text, (row) => row as Row)
  }

  pluck<Given extends unknown[] | object = unknown[], Value = unknown>(text: string): Statement<Values<Given>, Value> {
    return this.#createStatement(text, (row) => Object.values(row)[0] as Value)
  }

  /** As `lock_gate_1` does: the name is JSON. A database may have several schemas of ours. */
  async lock(name: readonly string[], how: Lock = 'alone'): Promise<boolean> {
    const text = `[${name.map((part) => JSON.stringify(encode(part))).join(',')}] `
    const { rows } = await this.#client.query<{ has: boolean | '' }>(
      `SELECT ${LOCKS[how]}(hashtextextended($1 || current_schema(), 0)) AS has`,
      [text],
    )
    return rows[0]?.has !== false
  }

  /** The same for a statement of arrays, which is written at once. */
  prepareCall<Row extends QueryResultRow>(text: string): Call<Row> {
    return new Call(this.#client, this.#buffer, translate(text).sql)
  }

  #createStatement<Given extends unknown[], Row>(
    text: string,
    read: (row: QueryResultRow) => Row,
  ): Statement<Given, Row> {
    const { sql, names } = translate(text)
    const query = (values: unknown[]) => this.#client.query<QueryResultRow>(sql, bind(values, names))
    return {
      run: async (...values) => ({ changes: (await query(values)).rowCount ?? 0 }),
      get: async (...values) => {
        const [row] = (await query(values)).rows
        return row === undefined ? undefined : read(row)
      },
      all: async (...values) => (await query(values)).rows.map(read),
    }
  }
}

/** A text in quotes, or a value. */
const PARTS = /'(?:[^']|'')*'|\?|@(\w+)/g

function translate(text: string): { sql: string; names: string[] | null } {
  const names: string[] = []
  let count = 0
  const sql = text.replace(PARTS, (part: string, name?: string) => {
    if (part.startsWith("'")) return part
    if (name === undefined) {
      count += 1
      return `$${count}`
    }
    if (!names.includes(name)) names.push(name)
    return `$${names.indexOf(name) + 1}`
  })
  return { sql, names: names.length > 0 ? names : null }
}

function bind(values: unknown[], names: string[] | null): unknown[] {
  if (names === null) return values.map(encode)
  const given = values[0] as Record<string, unknown>
  return names.map((name) => encode(given[name]))
}

/** PostgreSQL's text cannot hold the character 0. */
function encode(value: unknown): unknown {
  if (typeof value === 'boolean') return Number(value)
  if (typeof value === 'string' && value.includes('\0')) return value.replaceAll('\0', '\u{fffd}')
  if (Array.isArray(value)) return value.map(encode)
  return value ?? null
}
