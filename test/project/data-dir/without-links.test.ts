import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test, vi } from 'vitest'
import { loadAdminToken } from '../../../src/project/data-dir/admin-token.ts'
import { backupDatabase } from '../../../src/store/sqlite/upkeep/backup-database.ts'
import { tempFolder } from '../../support/temp-folder.ts'
import { openTestStore } from '../../support/test-store.ts'

vi.mock('node:fs', async (load) => ({
  ...(await load<typeof import('node:fs')>()),
  linkSync(from: string, to: string) {
    const message = `EPERM: operation not permitted, link '${from}' -> '${to}'`
    throw Object.assign(new Error(message), { code: 'EPERM', syscall: 'link' })
  },
}))

const quiet = { onProgress: () => {}, signal: new AbortController().signal }

test('on a file system without links, the first start makes the one token of its data directory', () => {
  const dataDir = tempFolder()
  const token = loadAdminToken({ dataDir })
  expect(loadAdminToken({ dataDir })).toBe(token)
  expect(readdirSync(dataDir)).toEqual(['admin.token'])
})

test('on a file system without links, a backup gets its name, and overwrites nothing', async () => {
  const { folder } = openTestStore()
  const to = tempFolder()
  const file = join(folder, 'upshot.db')
  expect(await backupDatabase(file, join(to, 'backup.db'), quiet)).toMatchObject({ passed: true })
  await expect(backupDatabase(file, join(to, 'backup.db'), quiet)).rejects.toMatchObject({ code: 'conflict' })
  expect(readdirSync(to)).toEqual(['backup.db'])
})
