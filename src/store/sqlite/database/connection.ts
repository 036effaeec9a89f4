import type { Database, Statement as RawStatement } from 'better-sqlite3'
import { toStorable } from '../../../core/runs/step.ts'
import { type Connection, nameOf, type Statement, type Values } from '../../connection.ts'
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
      new LateStatement<Values<Given>, Row>(() => db.prepare<unknown[]>(keepPlan(text))),
    pluck: <Given extends unknown[] | object, Value>(text: string) =>
      new LateStatement<Values<Given>, Value>(() => db.prepare<unknown[]>(keepPlan(text)).pluck(), true),
  }
}

/**
 * SQLite may plan by the value of a parameter behind `=` or `LIMIT`. Such a statement is prepared
 * again at each use. For a claimed run, that takes 24 µs, and the query takes 1. A plus hides the
 * value. Our plans need none: each has its index whatever is asked.
 */
export function keepPlan(sql: string): string {
  return sql.replaceAll(/(=|\bIS|\bLIMIT|\bOFFSET) (?=[?@])/g, '$1 +')
}

/**
 * A statement that is prepared at its first use. Each takes 10 KB, and a thread uses a part of the
 * 400 that the tables have. An error in SQL shows at that first use.
 */
class LateStatement<Given extends unknown[], Row> implements Statement<Given, Row> {
  readonly #prepare: () => RawStatement<unknown[]>
  readonly #isPlucked: boolean
  #prepared: RawStatement<unknown[]> | null = null
  /** Makes a row of its values; null where they come by name already, or alone. */
  #name: NameValues | null = null
  #columns = 0

  constructor(prepare: () => RawStatement<unknown[]>, isPlucked = false) {
    this.#prepare = prepare
    this.#isPlucked = isPlucked
  }

  async run(...values: Given) {
    return this.#statement().run(...bind(values))
  }

  async get(...values: Given) {
    const row = this.#statement().get(...bind(values))
    return (row === undefined ? row : this.#read(row)) as Row | undefined
  }

  async all(...values: Given) {
    const rows = this.#statement().all(...bind(values))
    return (this.#name === null ? rows : rows.map((row) => this.#read(row))) as Row[]
  }

  #statement(): RawStatement<unknown[]> {
    if (this.#prepared !== null) return this.#prepared
    const statement = this.#prepare()
    this.#prepared = statement
    if (this.#isPlucked || !statement.reader) return statement
    if (statement.columns().some(({ name }) => name.includes('_'))) this.#nameColumns(statement.raw())
    return statement
  }

  #nameColumns(statement: RawStatement<unknown[]>): void {
    const names = statement.columns().map(({ name }) => nameOf(name))
    this.#columns = names.length
    this.#name = compileNames(names)
  }

  #read(row: unknown): unknown {
    if (this.#name === null) return row
    const values = row as unknown[]
    // A newer Upshot may have added a column meanwhile.
    if (values.length !== this.#columns && this.#prepared !== null) this.#nameColumns(this.#prepared)
    return this.#name(values)
  }
}

type NameValues = (values: unknown[]) => object

/** Compiled, since a loop takes a quarter more of a long read. The names are in our own SQL. */
function compileNames(names: readonly string[]): NameValues {
  const parts = names.map((name, at) => `${JSON.stringify(name)}: values[${at}]`)
  return new Function('values', `return { ${parts.join(', ')} }`) as NameValues
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
  return values.every((value) =>
    typeof value === 'string' ? !value.includes('\0') : typeof value === 'number' || value === null,
  )
}

/**
 * SQLite has no lists and no truth values: a list is JSON. Null stands for what is not given. Texts
 * are kept as PostgreSQL keeps them, so that hashes and seals of them hold after a move.
 */
function encode(value: unknown): unknown {
  if (typeof value === 'string') return toStorable(value)
  if (typeof value === 'boolean') return Number(value)
  return Array.isArray(value) ? JSON.stringify(value.map(encode)) : (value ?? null)
}
