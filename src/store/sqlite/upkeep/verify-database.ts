import { existsSync } from 'node:fs'
import Database from 'better-sqlite3'
import { UpshotError } from '../../../core/errors.ts'
import { SQLITE } from '../../dialect.ts'
import { type DatabaseCheck, type DatabaseReport, describeCheck } from '../../rows/database-report.ts'
import { MAX_FAULTS, rowChecks } from '../../tables/upkeep/row-checks.ts'
import { knownColumns, latestSchema, listColumns } from '../database/migrate.ts'
import { requireOwnLog } from '../database/own-log.ts'

type Check = (db: Database.Database) => string[]

/** Each check returns its faults. It reads whole tables, in the order of their pages. */
const CHECKS: Record<string, Check> = {
  integrity: (db) => pluck(db, `PRAGMA integrity_check(${MAX_FAULTS})`).filter((line) => line !== 'ok'),
  'foreign keys': (db) =>
    (db.pragma('foreign_key_check') as { table: string; rowid: number | null }[]).map(
      ({ table, rowid }) => `${table} ${rowid ?? ''}`,
    ),
  schema: findSchemaFaults,
  ...Object.fromEntries(
    Object.entries(rowChecks(SQLITE)).map(([name, sql]): [string, Check] => [
      name,
      (db) => pluck(db, `${sql} LIMIT ${MAX_FAULTS}`),
    ]),
  ),
}

/**
 * Checks a whole database and changes nothing, also beside a running app. Throws `not_found`
 * without a file, `store_unavailable` for one that is no database.
 */
export function verifyDatabase(
  file: string,
  onProgress?: (part: { done: number; total: number }) => void,
): DatabaseReport {
  if (!existsSync(file)) throw new UpshotError('not_found', `There is no database ${file}.`)
  const db = open(file)
  try {
    const all = Object.entries(CHECKS)
    const checks = all.map(([name, check], done) => {
      onProgress?.({ done, total: all.length })
      return perform(db, name, check)
    })
    return { file, passed: checks.every(({ passed }) => passed), checks, rows: countRows(db) }
  } finally {
    db.close()
  }
}

/** Row counts of all our tables, by name; empty if they cannot be read. */
export function countRows(db: Database.Database): Record<string, number> {
  const count = (table: string) => db.prepare<[], number>(`SELECT count(*) FROM "${table}"`).pluck().get() ?? 0
  try {
    return Object.fromEntries(listTables(db).map((table) => [table, count(table)]))
  } catch {
    return {}
  }
}

function open(file: string): Database.Database {
  requireOwnLog(file)
  try {
    const db = new Database(file, { readonly: true, fileMustExist: true, timeout: 5_000 })
    // SQLite opens the file at the first read, which fails for a file that is no database.
    db.pragma('schema_version')
    return db
  } catch (cause) {
    throw new UpshotError('store_unavailable', `${file} cannot be read as a database (${codeOf(cause)}).`, {
      cause,
      details: {
        fix: 'Name another backup, or see whether this user may read the file, and whether all of it is there.',
      },
    })
  }
}

function perform(db: Database.Database, name: string, check: Check): DatabaseCheck {
  try {
    return describeCheck(name, check(db))
  } catch (error) {
    return { name, passed: false, found: `it cannot be read (${codeOf(error)})` }
  }
}

function findSchemaFaults(db: Database.Database): string[] {
  const version = latestSchema()
  const found = db.pragma('user_version', { simple: true }) as number
  const here = new Set(listColumns(db))
  return [
    ...(found === version ? [] : [`version ${found}, where this Upshot knows ${version}`]),
    ...knownColumns()
      .filter((column) => !here.has(column))
      .map((column) => `no column "${column}"`),
  ]
}

function listTables(db: Database.Database): string[] {
  return pluck(db, `SELECT name FROM sqlite_schema WHERE type = 'table' AND name NOT LIKE 'sqlite_%' ORDER BY name`)
}

function pluck(db: Database.Database, sql: string): string[] {
  return db.prepare<[], unknown>(sql).pluck().all().map(String)
}

function codeOf(error: unknown): string {
  return error instanceof Error && 'code' in error ? String(error.code) : 'unknown fault'
}
