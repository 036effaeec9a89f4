import type { Database, Statement as SqliteStatement } from 'better-sqlite3'
import type { Connection, Statement, Values } from '../../connection.ts'
import { SQLITE } from '../../dialect.ts'

/** A connection whose answers are there at once: an await of one lets no other turn in. */
export function openConnection(db: Database): Connection {
  return {
    sql: SQLITE,
    prepare: <Given extends unknown[] | object, Row>(text: string) =>
      new ReadyStatement<Values<Given>, Row>(db.prepare<unknown[], Row>(text)),
  }
}

class ReadyStatement<Given extends unknown[], Row> implements Statement<Given, Row> {
  readonly #statement: SqliteStatement<unknown[], Row>

  constructor(statement: SqliteStatement<unknown[], Row>) {
    this.#statement = statement
  }

  async run(...values: Given) {
    return this.#statement.run(...values.map(bind))
  }

  async get(...values: Given) {
    return this.#statement.get(...values.map(bind))
  }

  async all(...values: Given) {
    return this.#statement.all(...values.map(bind))
  }

  pluck(): this {
    this.#statement.pluck()
    return this
  }
}

/** SQLite has no lists and no truth values: a list is JSON. Null stands for what is not given. */
function bind(value: unknown): unknown {
  if (value === null || typeof value !== 'object') return encode(value)
  if (Array.isArray(value)) return JSON.stringify(value)
  if (ArrayBuffer.isView(value)) return value
  return Object.fromEntries(Object.entries(value).map(([name, each]) => [name, encode(each)]))
}

function encode(value: unknown): unknown {
  if (typeof value === 'boolean') return Number(value)
  return Array.isArray(value) ? JSON.stringify(value) : (value ?? null)
}
