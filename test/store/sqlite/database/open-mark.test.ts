import { cpSync, existsSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import Database from 'better-sqlite3'
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

/** The files that a kill leaves in this moment: the database, its log and the mark. */
function killedCopy(store: { folder: string }, name: string): string {
  const copy = `${store.folder}-${name}`
  cpSync(store.folder, copy, { recursive: true })
  return join(copy, 'upshot.db')
}

test('a kill while the database is opened or closed is no loss: only a log that somebody removed is', async () => {
  const store = openTestStore()
  const file = join(store.folder, 'upshot.db')
  await store.checkWritable(1)
  const lastMark = readFileSync(`${file}-open`)
  await store.close()
  // Between the last close, which has moved the log into the database, and the end of the mark.
  writeFileSync(`${file}-open`, lastMark)
  expect(isLogMissing(file)).toBe(false)

  const again = openTestStore(store.folder)
  expect(statSync(`${file}-open`).ino).toBe(statSync(`${file}-wal`).ino)
  // Each writes another moment than the one before: an equal page is no loss.
  for (let n = 2; n <= 4; n++) {
    await again.checkWritable(n)
    const written = killedCopy(again, `written-${n}`)
    rmSync(`${written}-wal`)
    expect(isLogMissing(written)).toBe(true)
    const other = new Database(file)
    other.pragma('wal_checkpoint(PASSIVE)')
    other.close()
    const moved = killedCopy(again, `moved-${n}`)
    rmSync(`${moved}-wal`)
    expect(isLogMissing(moved)).toBe(false)
  }
  await again.close()
})

test.skipIf(process.platform === 'win32')('only its owner may read a database, its log and its index', async () => {
  const { folder, ...store } = openTestStore()
  await store.checkWritable(1)
  const modes = ['upshot.db', 'upshot.db-wal', 'upshot.db-shm', 'upshot.db-open'].map(
    (name) => statSync(join(folder, name)).mode & 0o777,
  )
  expect(modes).toEqual([0o600, 0o600, 0o600, 0o600])
})
