import { expect, onTestFinished, test } from 'vitest'
import type { AdminSession } from '../../../src/core/access/session.ts'
import { openSqliteStore } from '../../../src/store/sqlite/open-sqlite-store.ts'

const SESSION: AdminSession = {
  id: 'ses_1',
  name: 'one',
  role: 'viewer',
  cookieHash: 'cookie',
  keyHash: 'key',
  address: '127.0.0.1',
  createdAt: 1,
  seenAt: 1,
}

test('a read sees nothing of a write of its connection that is undone', async () => {
  const store = openSqliteStore({ file: ':memory:', vaultKey: Buffer.alloc(32) })
  onTestFinished(() => store.close())
  for (const hash of ['code', 'other']) await store.saveLoginCode({ hash, name: 'one', role: 'viewer', expiresAt: 9 })
  await store.startSession(SESSION, 'other')
  // They share a commit. The second breaks it, so that each is made alone. The first is answered
  // while the second has taken its code, and has not failed yet.
  const first = store.endSession('ses_none')
  const second = store.startSession(SESSION, 'code').catch((error: Error) => error.message)
  const seen = first.then(async () => {
    const reads = Array.from({ length: 20 }, async (_, hop) => {
      for (let n = 0; n < hop; n++) await null
      return (await store.findLoginCode('code', 1))?.name
    })
    return new Set(await Promise.all(reads))
  })
  expect(await second).toContain('UNIQUE constraint failed')
  expect(await seen).toEqual(new Set(['one']))
})
