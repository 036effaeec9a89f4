import { randomBytes } from 'node:crypto'
import Database from 'better-sqlite3'
import { expect, onTestFinished, test, vi } from 'vitest'
import { openConnection } from '../../../../src/store/sqlite/database/connection.ts'
import { migrate } from '../../../../src/store/sqlite/database/migrate.ts'
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

test('a row has the names of our code, also after a newer Upshot added a column', async () => {
  const { db } = openMemory()
  db.exec(`CREATE TABLE item (id TEXT, made_at INTEGER); INSERT INTO item VALUES ('a', 1)`)
  const connection = openConnection(db)
  const rows = connection.prepare<[], object>('SELECT item.*, 7 AS last_part FROM item')
  expect(await rows.all()).toEqual([{ id: 'a', madeAt: 1, lastPart: 7 }])
  db.exec(`ALTER TABLE item ADD COLUMN is_new INTEGER DEFAULT 1`)
  expect(await rows.get()).toEqual({ id: 'a', madeAt: 1, isNew: 1, lastPart: 7 })
  const moment = connection.pluck<[], number>('SELECT made_at FROM item')
  expect([await moment.get(), await moment.all()]).toEqual([1, [1]])
})
