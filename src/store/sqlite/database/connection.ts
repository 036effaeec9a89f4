import type { Database, Statement as RawStatement } from 'better-sqlite3'
import type { Connection, Statement, Values } from '../../connection.ts'
import { SQLITE } from '../../dialect.ts'

/** A connection to a file, with the library's own for what PostgreSQL has no word for. */
export interface SqliteConnection extends Connection {
  readonly raw: Database
}

/** A connection whose answers are there at once: an await of one lets no other turn in. */
export function openConnection(db: Database): SqliteConnection {
  return {
    raw: db,
    sql: SQLITE,
    // One transaction writes at a time.
    lock: async () => true,
    prepare: <Given extends unknown[] | object, Row>(text: string) =>
      new ReadyStatement<Values<Given>, Row>(db.prepare<unknown[], Row>(text)),
    pluck: <Given extends unknown[] | object, Value>(text: string) =>
      new ReadyStatement<Values<Given>, Value>(db.prepare<unknown[], Value>(text).pluck()),
  }
}

class ReadyStatement<Given extends unknown[], Row> implements Statement<Given, Row> {
  readonly #statement: RawStatement<unknown[], Row>

  constructor(statement: RawStatement<unknown[], Row>) {
    this.#statement = statement
  }

  async run(...values: Given) {
    return this.#statement.run(...bind(values))
  }

  async get(...values: Given) {
    return this.#statement.get(...bind(values))
  }

  async all(...values: Given) {
    return this.#statement.all(...bind(values))
  }
}

/** The values as SQLite takes them; most are already, and are not copied. */
function bind(values: unknown[]): unknown[] {
  const [first] = values
  if (values.length === 1 && isNamed(first)) return isBound(Object.values(first)) ? values : [bindNamed(first)]
  return isBound(values) ? values : values.map(encode)
}

function isNamed(value: unknown): value is object {
  return value !== null && typeof value === 'object' && !Array.isArray(value) && !ArrayBuffer.isView(value)
}

function bindNamed(values: object): object {
  return Object.fromEntries(Object.entries(values).map(([name, value]) => [name, encode(value)]))
}

function isBound(values: unknown[]): boolean {
  return values.every((value) => typeof value === 'string' || typeof value === 'number' || value === null)
}

/** SQLite has no lists and no truth values: a list is JSON. Null stands for what is not given. */
function encode(value: unknown): unknown {
  if (typeof value === 'boolean') return Number(value)
  return Array.isArray(value) ? JSON.stringify(value) : (value ?? null)
}
