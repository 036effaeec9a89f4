import { cpSync, existsSync, rmSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { isLogMissing } from '../../../../src/store/sqlite/database/open-mark.ts'
import { openTestStore } from '../../../support/test-store.ts'

/** The files of an open database, as a crash would leave them, in another folder. */
function crash(folder: string): string {
  const copy = `${folder}-copy`
  cpSync(folder, copy, { recursive: true })
  return copy
}

test('a missing log is noticed after a crash, and not after a close or beside an open database', async () => {
  const store = openTestStore()
  const file = join(store.folder, 'upshot.db')
  await store.checkWritable(1)
  expect(isLogMissing(file)).toBe(false)
  const copy = crash(store.folder)
  expect(isLogMissing(join(copy, 'upshot.db'))).toBe(false)
  rmSync(join(copy, 'upshot.db-wal'))
  expect(isLogMissing(join(copy, 'upshot.db'))).toBe(true)
  const second = openTestStore(store.folder)
  await second.close()
  await store.close()
  expect([existsSync(`${file}-wal`), isLogMissing(file)]).toEqual([false, false])
})

test.skipIf(process.platform === 'win32')('only its owner may read a database, its log and its index', async () => {
  const { folder, ...store } = openTestStore()
  await store.checkWritable(1)
  const modes = ['upshot.db', 'upshot.db-wal', 'upshot.db-shm', 'upshot.db-open'].map(
    (name) => statSync(join(folder, name)).mode & 0o777,
  )
  expect(modes).toEqual([0o600, 0o600, 0o600, 0o600])
})
