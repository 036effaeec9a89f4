import { join } from 'node:path'
import Database from 'better-sqlite3'
import { expect, test } from 'vitest'
import { NOW } from '../../../support/fixtures.ts'
import { openTestStore } from '../../../support/test-store.ts'

test('SQLite itself refuses to change a row of the audit log', async () => {
  const store = openTestStore()
  const entry = { actor: 'cli:ada', role: 'owner', from: 'host', reason: null, at: NOW }
  await store.recordAction({ ...entry, action: 'run.retry', target: null, parameters: {} }, 'done')
  const db = new Database(join(store.folder, 'upshot.db'))
  expect(() => db.prepare(`UPDATE audit SET actor = 'cli:ben'`).run()).toThrow(/never changed/)
  db.close()
})
