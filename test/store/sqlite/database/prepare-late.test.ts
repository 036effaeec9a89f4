import { randomBytes } from 'node:crypto'
import Database from 'better-sqlite3'
import { expect, onTestFinished, test, vi } from 'vitest'
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
