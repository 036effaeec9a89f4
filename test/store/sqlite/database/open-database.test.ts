import { chmodSync, mkdirSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { openReadStore } from '../../../../src/store/open-store.ts'
import { openTestStore, testVaultKey } from '../../../support/test-store.ts'

test('what SQLite made beside a read-only database is writable again with it', async () => {
  const { folder, close } = openTestStore()
  await close()
  const file = join(folder, 'upshot.db')
  chmodSync(file, 0o400)
  const reader = await openReadStore({ file, vaultKey: testVaultKey })
  await reader.listEvents({ limit: 1 })
  await reader.close()
  const modeOf = (ending: string) => statSync(`${file}${ending}`).mode & 0o777
  expect(modeOf('-shm')).toBe(0o400)
  chmodSync(file, 0o600)
  await openTestStore(folder).checkWritable(1)
  expect(['', '-wal', '-shm'].map(modeOf)).toEqual([0o600, 0o600, 0o600])
})

test('a log that this user may not open is named, and no backup is advised', async () => {
  const { folder, close } = openTestStore()
  await close()
  const file = join(folder, 'upshot.db')
  mkdirSync(`${file}-wal`)
  const opened = openReadStore({ file, vaultKey: testVaultKey }).then((reader) => reader.listEvents({ limit: 1 }))
  await expect(opened).rejects.toMatchObject({
    message: expect.stringMatching(/cannot be opened \(SQLITE_CANTOPEN\)\. Make .*"-wal"/),
    details: { reason: 'closed' },
  })
})
