import { chmodSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { findNetworkDisk, protectDataDir } from '../../../src/project/data-dir/examine-data-dir.ts'
import { tempFolder } from '../../support/temp-folder.ts'
import { startTestApp } from '../../support/test-app.ts'

const modeOf = (path: string) => statSync(path).mode & 0o7777

/** A data directory as an earlier version left it, or as `cp -r` makes it. */
function openFolder(files: readonly string[], mode = 0o755): string {
  const folder = tempFolder()
  for (const file of files) {
    writeFileSync(join(folder, file), '')
    chmodSync(join(folder, file), 0o644)
  }
  chmodSync(folder, mode)
  return folder
}

test('a start closes an existing data directory to other users, and tells it once', async () => {
  const dataDir = openFolder(['notes.txt'])
  const first = await startTestApp({}, { dataDir })
  await first.app.stop()
  expect(modeOf(dataDir)).toBe(0o755)
  chmodSync(join(dataDir, 'upshot.db'), 0o644)
  const second = await startTestApp({}, { dataDir })
  expect(second.heard).toContainEqual({ kind: 'store.protected', paths: [dataDir, join(dataDir, 'upshot.db')] })
  await second.app.stop()
  const third = await startTestApp({}, { dataDir })
  expect(third.heard.filter(({ kind }) => kind === 'store.protected')).toEqual([])
  expect([dataDir, join(dataDir, 'upshot.db')].map(modeOf)).toEqual([0o700, 0o600])
})

test('files with secrets are closed, and files that are not ours keep their rights', () => {
  const dataDir = openFolder(['upshot.db', 'upshot.db-wal', 'secret.key', 'admin.token', 'runtime.json', 'report.csv'])
  expect(protectDataDir({ dataDir })).toHaveLength(6)
  const modes = ['upshot.db-wal', 'secret.key', 'admin.token', 'runtime.json', 'report.csv'].map((name) =>
    modeOf(join(dataDir, name)),
  )
  expect(modes).toEqual([0o600, 0o600, 0o600, 0o600, 0o644])
})

test('a directory that a wrong variable names, or that all users share, keeps its rights', () => {
  const wrong = openFolder(['photo.jpg'])
  const shared = openFolder(['upshot.db'], 0o1777)
  expect(protectDataDir({ dataDir: wrong })).toEqual([])
  expect(protectDataDir({ dataDir: shared })).toEqual([join(shared, 'upshot.db')])
  expect([wrong, shared].map(modeOf)).toEqual([0o755, 0o1777])
  expect(protectDataDir({ dataDir: join(wrong, 'not-there') })).toEqual([])
})

test.runIf(process.platform === 'linux')(
  'a data directory on a disk of another machine is known by its file system',
  () => {
    const on = (type: number) => findNetworkDisk('/srv/data', () => ({ type }))
    // NFS, CIFS as a signed number, 9P; ext4, tmpfs, overlay, FUSE.
    expect([0x6969, 0xff534d42 | 0, 0x01021997].map(on)).toEqual(['NFS', 'CIFS', '9P'])
    expect([0xef53, 0x01021994, 0x794c7630, 0x65735546].map(on)).toEqual([null, null, null, null])
    expect(findNetworkDisk(tempFolder())).toBeNull()
    expect(findNetworkDisk(join(tempFolder(), 'not-there'))).toBeNull()
  },
)
