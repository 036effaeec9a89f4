import { randomBytes } from 'node:crypto'
import Database from 'better-sqlite3'
import { expect, onTestFinished, test, vi } from 'vitest'
import { migrate } from '../../../../src/store/sqlite/database/migrate.ts'
import { prepareLate } from '../../../../src/store/sqlite/database/prepare-late.ts'
import { openTables } from '../../../../src/store/sqlite/tables.ts'
import { createVault } from '../../../../src/store/vault.ts'

function openMemory() {
  const db = new Database(':memory:')
  onTestFinished(() => void db.close())
  return { db, prepare: vi.spyOn(db, 'prepare') }
}

test('opening the tables prepares no statement, and a statement is prepared once', async () => {
  const { db, prepare } = openMemory()
  migrate(db)
  prepare.mockClear()
  const tables = openTables(db, createVault(randomBytes(32)))
  expect(prepare).not.toHaveBeenCalled()
  for (const _ of [1, 2]) expect(await tables.approvalSearch.findApproval('apr_none', 0)).toBeNull()
  expect(prepare).toHaveBeenCalledTimes(1)
})

test('a late statement does what a prepared one does', () => {
  const { db } = openMemory()
  const late = prepareLate(db)
  late.exec('CREATE TABLE word (id INTEGER PRIMARY KEY, text TEXT)')
  const insert = late.prepare('INSERT INTO word (text) VALUES (@text)')
  // A transaction of one connection holds the statements of the other.
  late.transaction(() => [insert.run({ text: 'one' }), insert.run({ text: 'two' })])()
  expect(late.prepare('SELECT text FROM word WHERE id = ?').get(2)).toEqual({ text: 'two' })
  expect(late.prepare('SELECT text FROM word ORDER BY id').pluck().all()).toEqual(['one', 'two'])
  expect([...late.prepare('SELECT id FROM word ORDER BY id').pluck().iterate()]).toEqual([1, 2])
  expect(() => late.prepare('SELECT absent').get()).toThrow('no such column: absent')
})
