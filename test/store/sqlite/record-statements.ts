import type { Database } from 'better-sqlite3'
import { keepPlan, openConnection, type SqliteConnection } from '../../../src/store/sqlite/database/connection.ts'

/** A connection that notes each statement as a table makes it, whether it is used or not. */
export function recordStatements(db: Database, statements: string[]): SqliteConnection {
  const noting = <Rest extends unknown[], Made>(make: (sql: string, ...rest: Rest) => Made) => {
    return (sql: string, ...rest: Rest) => {
      statements.push(sql)
      return make(sql, ...rest)
    }
  }
  const connection = openConnection(db)
  const raw = Object.create(db, { prepare: { value: noting((sql) => db.prepare(sql)) } })
  const { prepare, pluck } = connection
  return { ...connection, raw, prepare: noting(prepare) as never, pluck: noting(pluck) as never }
}

/** The lines of SQLite's plan for a statement, as a connection makes it. */
export function explain(db: Database, sql: string): string[] {
  const names = [...sql.matchAll(/@(\w+)/g)].map(([, name]) => name)
  const values =
    names.length > 0 ? [Object.fromEntries(names.map((name) => [name, 0]))] : (sql.match(/\?/g) ?? []).map(() => 0)
  const plan = db.prepare<unknown[], { detail: string }>(`EXPLAIN QUERY PLAN ${keepPlan(sql)}`)
  return plan.all(...values).map(({ detail }) => detail)
}
