import { join } from 'node:path'
import Database from 'better-sqlite3'
import { expect, test } from 'vitest'
import { verifyLedger } from '../../../../src/core/safety/ledger/verify-ledger.ts'
import { deleteFiles } from '../../../contract/support/delete-files.ts'
import { NOW } from '../../../support/fixtures.ts'
import { openTestStore } from '../../../support/test-store.ts'

test('a seal whose write is undone leaves no seal and no key, and the next one covers its rows', async () => {
  const store = openTestStore()
  await deleteFiles(store, ['a'])
  const db = new Database(join(store.folder, 'upshot.db'))
  db.exec(`CREATE TRIGGER full AFTER INSERT ON effect_seal BEGIN SELECT RAISE(ABORT, 'the disk is full'); END`)
  const stop = { kind: 'all', name: '', since: NOW, actor: 'ada', reason: 'no' } as const
  const [sealed, stopped] = await Promise.allSettled([
    store.sealEffects({ now: NOW, limit: 10 }),
    store.stopEffects(stop),
  ])
  expect([sealed.status, stopped.status]).toEqual(['rejected', 'fulfilled'])
  expect(await store.readSealState()).toMatchObject({ head: null, unsealed: 3 })
  expect(await store.listSealKeys()).toEqual([])
  db.exec('DROP TRIGGER full')
  db.close()
  expect(await store.sealEffects({ now: NOW, limit: 10 })).toMatchObject({ rows: 3, head: { number: 1, last: 3 } })
  expect(await verifyLedger(store)).toMatchObject({ passed: true, sealed: 3, seals: 1 })
})
