import { randomBytes } from 'node:crypto'
import { join } from 'node:path'
import Database from 'better-sqlite3'
import { expect, test } from 'vitest'
import { openReadStore } from '../../../src/store/open-store.ts'
import { queueRun } from '../../support/fixtures.ts'
import { tempFolder } from '../../support/temp-folder.ts'
import { openTestStore } from '../../support/test-store.ts'

const vaultKey = randomBytes(32)

test('a reader sees what is committed, and makes and migrates nothing', async () => {
  const store = openTestStore()
  const id = await queueRun(store)
  const file = join(store.folder, 'upshot.db')
  const reader = await openReadStore({ file, vaultKey })
  expect(await reader.findRun(id)).toMatchObject({ status: 'pending' })
  const next = await queueRun(store, 'evt_2')
  expect(await reader.findRun(next)).toMatchObject({ status: 'pending' })
  await reader.close()
  const other = new Database(file)
  const version = other.pragma('user_version', { simple: true }) as number
  other.pragma(`user_version = ${version + 1}`)
  await expect(openReadStore({ file, vaultKey })).rejects.toMatchObject({ code: 'invalid_config' })
  other.pragma(`user_version = ${version - 1}`)
  await expect(openReadStore({ file, vaultKey })).rejects.toMatchObject({ code: 'invalid_config' })
  expect(other.pragma('user_version', { simple: true })).toBe(version - 1)
  other.close()
  await expect(openReadStore({ file: join(tempFolder(), 'none.db'), vaultKey })).rejects.toThrow()
})
