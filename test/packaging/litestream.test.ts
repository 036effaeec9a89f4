import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import Database from 'better-sqlite3'
import { expect, test } from 'vitest'
import { parse } from 'yaml'
import { openSqliteStore } from '../../src/store/sqlite/open-sqlite-store.ts'
import { incoming } from '../support/fixtures.ts'
import { tempFolder } from '../support/temp-folder.ts'

const read = (name: string) =>
  parse(readFileSync(join(import.meta.dirname, '../../packaging/litestream', name), 'utf8'))

test('Litestream copies the database of the app, has each variable, and ends after the app', () => {
  const { upshot, litestream } = read('compose.yml').services
  const [database, ...others] = read('litestream.yml').dbs
  expect(others).toEqual([])
  expect(database.path).toBe('/data/upshot.db')
  for (const service of [upshot, litestream]) expect(service.volumes).toContain('data:/data')
  expect(litestream.volumes).toContain('./litestream.yml:/etc/litestream.yml:ro')
  const used = JSON.stringify(database).match(/(?<=\$\{)\w+/g) ?? []
  expect(Object.keys(litestream.environment)).toEqual(expect.arrayContaining(used))
  expect(upshot.depends_on).toEqual(['litestream'])
  expect(litestream.command).toEqual(['replicate'])
})

// Litestream is such a program: it keeps the log from beginning anew until it has read it.
test('a program that holds reads and makes checkpoints between them stops no write', async () => {
  const file = join(tempFolder(), 'upshot.db')
  const store = openSqliteStore({ file, vaultKey: Buffer.alloc(32) })
  const other = new Database(file)
  const count = other.prepare<[], number>('SELECT count(*) FROM event').pluck()
  expect(other.pragma('journal_mode', { simple: true })).toBe('wal')
  for (let round = 0; round < 20; round++) {
    other.exec('BEGIN')
    const before = count.get()
    await Promise.all(
      Array.from({ length: 50 }, (_, each) => store.saveDelivery(incoming(`evt_${round}_${each}`, { workflows: [] }))),
    )
    expect(count.get()).toBe(before)
    other.exec('COMMIT')
    other.pragma('wal_checkpoint(RESTART)')
    expect(count.get()).toBe((round + 1) * 50)
  }
  other.close()
  await store.close()
})
