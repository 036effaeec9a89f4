import { mkdirSync, readdirSync, utimesSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import Database from 'better-sqlite3'
import { expect, test } from 'vitest'
import {
  foreseeMigration,
  knownColumns,
  latestSchema,
  listColumns,
  migrate,
} from '../../../../src/store/sqlite/database/migrate.ts'
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

test('a migration is tried on a copy beside an app that writes all the time', async () => {
  const file = join(tempFolder(), 'upshot.db')
  const db = openDatabase(file)
  db.exec('CREATE TABLE filler (bytes)')
  db.exec('INSERT INTO filler VALUES (zeroblob(8000000))')
  let writes = 0
  let isOver = false
  const write = () => {
    if (isOver || writes === 300) return db.close()
    db.prepare('INSERT INTO filler VALUES (?)').run(writes++)
    setImmediate(write)
  }
  write()
  const { tried } = await foreseeMigration(file, 0)
  isOver = true
  expect(tried?.bytes).toBeGreaterThan(8_000_000)
  expect(writes).toBeLessThan(300)
})

test('Ctrl-C while a migration is tried leaves no copy, and the next try removes that of a killed one', async () => {
  const folder = tempFolder()
  const file = join(folder, 'upshot.db')
  const killed = join(folder, 'upshot-dry-run-a1B2c3')
  const own = join(folder, 'migration-backup')
  for (const old of [killed, own]) {
    mkdirSync(old)
    writeFileSync(join(old, 'copy.db'), '')
    utimesSync(old, 0, 0)
  }
  openDatabase(file).close()
  await expect(foreseeMigration(file, 0, AbortSignal.abort())).rejects.toMatchObject({ name: 'AbortError' })
  expect(readdirSync(folder).filter((name) => !name.startsWith('upshot.db'))).toEqual(['migration-backup'])
  expect((await foreseeMigration(file, 0)).tried).not.toBeNull()
})
