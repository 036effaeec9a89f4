import { copyFileSync, cpSync, readFileSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { openReadStore } from '../../../../src/store/open-store.ts'
import { openSqliteStore } from '../../../../src/store/sqlite/open-sqlite-store.ts'
import { backupDatabase } from '../../../../src/store/sqlite/upkeep/backup-database.ts'
import { verifyDatabase } from '../../../../src/store/sqlite/upkeep/verify-database.ts'
import { incoming } from '../../../support/fixtures.ts'
import { tempFolder } from '../../../support/temp-folder.ts'
import { openTestStore, testVaultKey } from '../../../support/test-store.ts'

/** The files after a kill, with a backup of before the last event in place of the database. */
async function restoreBesideLog() {
  const store = openTestStore()
  await store.saveDelivery(incoming('evt_kept'))
  const backup = join(tempFolder(), 'backup.db')
  const options = { onProgress: () => {}, signal: new AbortController().signal }
  await backupDatabase(join(store.folder, 'upshot.db'), backup, options)
  await store.saveDelivery(incoming('evt_later'))
  const folder = join(tempFolder(), 'killed')
  cpSync(store.folder, folder, { recursive: true })
  const file = join(folder, 'upshot.db')
  copyFileSync(backup, file)
  return { file, backup, killed: store.folder }
}

test('a backup beside the log of another database is not opened, and stays as it is', async () => {
  const { file, backup } = await restoreBesideLog()
  const options = { file, vaultKey: testVaultKey }
  expect(() => openSqliteStore(options)).toThrow(/is a backup beside the log/)
  expect(() => verifyDatabase(file)).toThrow(/is a backup beside the log/)
  await expect(openReadStore(options)).rejects.toMatchObject({ details: { reason: 'foreign_log' } })
  expect(readFileSync(file).equals(readFileSync(backup))).toBe(true)
})

test('a backup without that log, and a database beside its own, are opened', async () => {
  const { file, killed } = await restoreBesideLog()
  for (const ending of ['-wal', '-shm', '-open']) rmSync(`${file}${ending}`, { force: true })
  const idsIn = async (place: string) => {
    const store = openSqliteStore({ file: place, vaultKey: testVaultKey })
    const events = await store.listEvents({ limit: 9 })
    await store.close()
    return events.map(({ id }) => id).toSorted()
  }
  expect(await idsIn(file)).toEqual(['evt_kept'])
  const copy = join(tempFolder(), 'copy')
  cpSync(killed, copy, { recursive: true })
  expect(await idsIn(join(copy, 'upshot.db'))).toEqual(['evt_kept', 'evt_later'])
})
