import { execFile } from 'node:child_process'
import { chmodSync, mkdirSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { expect, test } from 'vitest'
import { openReadStore } from '../../../../src/store/open-store.ts'
import { tempFolder } from '../../../support/temp-folder.ts'
import { openTestStore, testVaultKey } from '../../../support/test-store.ts'

const run = promisify(execFile)

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

test('a write beyond the limit of file sizes names that limit and the quota, and no backup is advised', async () => {
  const module = new URL('../../../../src/store/sqlite/database/open-database.ts', import.meta.url)
  const program = `(await import('${module}')).openMigrated(process.argv[1])`
  const args = ['--input-type=module', '-e', program, join(tempFolder(), 'upshot.db')]
  const opened = run('sh', ['-c', 'ulimit -f 64; exec "$0" "$@"', process.execPath, ...args])
  const { stderr } = await opened.catch((error: { stderr: string }) => error)
  expect(stderr).toMatch(/cannot be written \(SQLITE_IOERR_WRITE\)\. Raise .*"ulimit -f"/)
  expect(stderr).not.toContain('restore a backup')
})
