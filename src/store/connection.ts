import type { Dialect } from './dialect.ts'

/** The values of a statement: in their order, or by the names of one object. */
export type Values<Given extends unknown[] | object> = Given extends unknown[] ? Given : [Given]

/** A statement of one connection. `true` and `false` are stored as 1 and 0. See {@link nameOf}. */
export interface Statement<Given extends unknown[], Row> {
  run(...values: Given): Promise<{ changes: number }>
  get(...values: Given): Promise<Row | undefined>
  all(...values: Given): Promise<Row[]>
}

/** The name that a column has in the rows of a statement: `created_at` is `createdAt`. */
export function nameOf(column: string): string {
  return column.replaceAll(/_([a-z])/g, (_, letter: string) => letter.toUpperCase())
}

/** How a name is locked. */
export type Lock = 'alone' | 'shared' | 'try'

/** A connection to a database, as the tables see it. A table awaits nothing else. */
export interface Connection {
  /** The SQL in which the databases differ. */
  readonly sql: Dialect
  /**
   * Keeps every other transaction that locks the same name waiting, to the end of this one. Those
   * that share it wait for none but one `alone`. False for a `try` where another one has it.
   */
  lock(name: readonly string[], how?: Lock): Promise<boolean>
  /** A statement with `?` for values in their order, or `@name` for those of one object. */
  prepare<Given extends unknown[] | object = unknown[], Row = unknown>(text: string): Statement<Values<Given>, Row>
  /** The same, which gives the first column of each row. */
  pluck<Given extends unknown[] | object = unknown[], Value = unknown>(text: string): Statement<Values<Given>, Value>
}

/** A table on one connection, which prepares its statements as it is made. */
export abstract class Table<Own extends Connection = Connection> {
  protected readonly db: Own

  constructor(db: Own) {
    this.db = db
  }

  // Functions that are one statement each.

  /** Gives all rows, each as `read` makes it, for what `bind` makes of the values. */
  protected readRows<Given extends unknown[], Row, Read = Row>(
    text: string,
    read?: (row: Row) => Read,
    bind: (...given: Given) => unknown[] = list,
  ) {
    const statement = this.db.prepare<unknown[], Row>(text)
    return async (...given: Given): Promise<Read[]> => {
      const rows = await statement.all(...bind(...given))
      return read ? rows.map(read) : (rows as unknown[] as Read[])
    }
  }

  /** Gives the first row, as `read` makes it; null: there is none. */
  protected readRow<Given extends unknown[], Row, Read = Row>(text: string, read?: (row: Row) => Read) {
    const statement = this.db.prepare<unknown[], Row>(text)
    return async (...values: Given): Promise<Read | null> => {
      const row = await statement.get(...values)
      return row === undefined ? null : read ? read(row) : (row as unknown as Read)
    }
  }

  /** Gives the row of a statement that always has one. */
  protected readOne<Given extends unknown[], Row>(text: string, bind: (...given: Given) => unknown[] = list) {
    const statement = this.db.prepare<unknown[], Row>(text)
    return async (...given: Given): Promise<Row> => (await statement.get(...bind(...given))) as Row
  }

  /** Gives the first column of all rows. */
  protected readValues<Given extends unknown[], Value>(text: string, bind: (...given: Given) => unknown[] = list) {
    const statement = this.db.pluck<unknown[], Value>(text)
    return (...given: Given): Promise<Value[]> => statement.all(...bind(...given))
  }

  /** Gives the first column of the first row; null: there is none. */
  protected readValue<Given extends unknown[], Value>(text: string, bind: (...given: Given) => unknown[] = list) {
    const statement = this.db.pluck<unknown[], Value>(text)
    return async (...given: Given): Promise<Value | null> => (await statement.get(...bind(...given))) ?? null
  }

  /** Gives whether there is a row. */
  protected hasRow<Given extends unknown[]>(text: string): (...values: Given) => Promise<boolean> {
    const statement = this.db.prepare<unknown[]>(text)
    return async (...values) => (await statement.get(...values)) !== undefined
  }

  /** Writes, with what `bind` makes of the values. */
  protected write<Given extends unknown[]>(text: string, bind?: (...given: Given) => unknown[]) {
    const count = this.countChanged(text, bind)
    return async (...given: Given): Promise<void> => void (await count(...given))
  }

  /** The same. Gives whether it changed a row. */
  protected change<Given extends unknown[]>(text: string, bind?: (...given: Given) => unknown[]) {
    const count = this.countChanged(text, bind)
    return async (...given: Given): Promise<boolean> => (await count(...given)) > 0
  }

  /** The same. Gives how many rows it changed. */
  protected countChanged<Given extends unknown[]>(text: string, bind: (...given: Given) => unknown[] = list) {
    const statement = this.db.prepare<unknown[]>(text)
    return async (...given: Given): Promise<number> => (await statement.run(...bind(...given))).changes
  }
}

function list(...values: unknown[]): unknown[] {
  return values
}

/** A table that works with others, or with the keys of the vault. */
export abstract class JoinedTable<Parts, Own extends Connection = Connection> extends Table<Own> {
  protected readonly parts: Parts

  constructor(db: Own, parts: Parts) {
    super(db)
    this.parts = parts
  }
}
