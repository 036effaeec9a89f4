import { join } from 'node:path'
import Database from 'better-sqlite3'
import { expect, test } from 'vitest'
import { knownColumns, latestSchema, listColumns, migrate } from '../../../../src/store/sqlite/database/migrate.ts'
import { openDatabase } from '../../../../src/store/sqlite/database/open-database.ts'
import { tempFolder } from '../../../support/temp-folder.ts'

test('a new database gets every column of the migrations, and a second migration changes nothing', () => {
  const db = new Database(':memory:')
  migrate(db)
  expect(db.pragma('user_version', { simple: true })).toBe(latestSchema())
  expect(listColumns(db)).toEqual(knownColumns())
  migrate(db)
  expect(listColumns(db)).toEqual(knownColumns())
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
  expect(listColumns(db)).toEqual([])
})
