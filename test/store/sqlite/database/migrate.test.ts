import { join } from 'node:path'
import Database from 'better-sqlite3'
import { expect, test } from 'vitest'
import { knownTables, latestSchema, migrate } from '../../../../src/store/sqlite/database/migrate.ts'
import { openDatabase } from '../../../../src/store/sqlite/database/open-database.ts'
import { tempFolder } from '../../../support/temp-folder.ts'

function listTables(db: Database.Database): unknown[] {
  return db.prepare(`SELECT name FROM sqlite_schema WHERE type = 'table' AND name NOT LIKE 'sqlite_%'`).pluck().all()
}

test('a new database gets every table of the migrations, and a second migration changes nothing', () => {
  const db = new Database(':memory:')
  migrate(db)
  expect(db.pragma('user_version', { simple: true })).toBe(latestSchema())
  expect(listTables(db).sort()).toEqual(knownTables().sort())
  migrate(db)
  expect(listTables(db)).toHaveLength(knownTables().length)
})

test('a database that is up to date is only read, so that a full disk holds up no command', () => {
  const file = join(tempFolder(), 'upshot.db')
  const db = openDatabase(file)
  migrate(db)
  const other = new Database(file)
  const readVersion = () => other.pragma('data_version', { simple: true })
  const before = readVersion()
  migrate(db)
  expect(readVersion()).toBe(before)
  db.close()
  other.close()
})

test('a database with a newer schema is refused and left as it is', () => {
  const db = new Database(':memory:')
  db.pragma(`user_version = ${latestSchema() + 1}`)
  expect(() => migrate(db)).toThrow(/only knows/)
  expect(listTables(db)).toEqual([])
})
