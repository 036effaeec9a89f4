import type { Database, Statement } from 'better-sqlite3'

/**
 * The same connection, whose statements are prepared at their first use. Each takes 10 KB, and a
 * thread uses a part of the 400 that the tables have. An error in SQL shows at that first use.
 */
export function prepareLate(db: Database): Database {
  // Everything else is the connection's own, which a prototype gives without a copy.
  return Object.create(db, { prepare: { value: (sql: string) => new LateStatement(db, sql) } })
}

/**
 * SQLite may plan by the value of a parameter behind `=` or `LIMIT`. Such a statement is prepared
 * again at each use. For a claimed run, that takes 24 µs, and the query takes 1. A plus hides the
 * value. Our plans need none: each has its index whatever is asked.
 */
export function keepPlan(sql: string): string {
  return sql.replaceAll(/(=|\bIS|\bLIMIT|\bOFFSET) (?=[?@])/g, '$1 +')
}

/** The methods of a statement that the tables call. */
type Used = Pick<Statement<unknown[]>, 'run' | 'get' | 'all' | 'iterate'>

class LateStatement implements Used {
  readonly #db: Database
  readonly #sql: string
  #isPlucked = false
  #prepared: Statement<unknown[]> | null = null

  constructor(db: Database, sql: string) {
    this.#db = db
    this.#sql = keepPlan(sql)
  }

  /** To be called before the first use. */
  pluck(): this {
    this.#isPlucked = true
    return this
  }

  run(...values: unknown[]) {
    return this.#prepare().run(...values)
  }

  get(...values: unknown[]) {
    return this.#prepare().get(...values)
  }

  all(...values: unknown[]) {
    return this.#prepare().all(...values)
  }

  iterate(...values: unknown[]) {
    return this.#prepare().iterate(...values)
  }

  #prepare(): Statement<unknown[]> {
    if (this.#prepared) return this.#prepared
    const statement = this.#db.prepare<unknown[]>(this.#sql)
    this.#prepared = this.#isPlucked ? statement.pluck() : statement
    return this.#prepared
  }
}
