import { readdirSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import type { NamedFile } from '../../../src/app/rehearsal/gather-files.ts'
import { MAX_BYTES, stageFiles } from '../../../src/app/rehearsal/stage-files.ts'
import { startSandbox } from '../../../src/sandbox/index.ts'
import { tempFolder } from '../../support/temp-folder.ts'

const named = (part: Partial<NamedFile>): NamedFile => ({
  storage: 'storage_a',
  id: null,
  path: null,
  type: 'file',
  size: null,
  createdAt: null,
  modifiedAt: null,
  sha256: null,
  ...part,
})

test('files are put silently, with ids, sizes and dates, and a copy has the bytes of its source', async () => {
  const dir = tempFolder()
  const sandbox = await startSandbox({ dir })
  onTestFinished(() => sandbox.stop())
  const { files, left } = await stageFiles(sandbox, [
    named({ id: 'fil_1', path: '/in/a.txt', size: 100_000, modifiedAt: 5_000, createdAt: 4_000 }),
    named({ storage: 'storage_b', path: '/a.txt', size: 100_000 }),
    named({ id: 'fil_2', path: '/in/hashed', size: 9, sha256: 'ab' }),
    named({ id: 'fil_3', size: 0 }),
    named({ id: 'dir_1', path: '/in', type: 'folder' }),
    named({ id: 'big', path: '/big', size: 5 * MAX_BYTES }),
    named({ id: 'fil_9', path: '/in/a.txt/below', size: 1 }),
  ])
  const [a, b] = [sandbox.storage('storage_a'), sandbox.storage('storage_b')]
  expect(a.list().find(({ id }) => id === 'fil_1')).toMatchObject({
    path: '/in/a.txt',
    createdAt: 4_000,
    modifiedAt: 5_000,
  })
  expect(a.list().find(({ id }) => id === 'dir_1')).toMatchObject({ path: '/in', type: 'folder' })
  expect(files.find(({ id }) => id === 'big')).toMatchObject({ bytes: MAX_BYTES, madeUp: ['size'] })
  // Its zeros take no room on the disk.
  const big = readdirSync(dir, { recursive: true, withFileTypes: true }).find(({ name }) => name === 'big')
  const { size, blocks } = statSync(join(big?.parentPath ?? '', 'big'))
  expect([size, blocks * 512 < 1_048_576]).toEqual([MAX_BYTES, true])
  expect(files.find(({ id }) => id === 'fil_3')).toMatchObject({ bytes: 0, madeUp: ['path'] })
  const bytes = await a.read('/in/a.txt')
  expect(bytes.length).toBe(100_000)
  expect(bytes.equals(await b.read('/a.txt'))).toBe(true)
  expect(bytes.subarray(0, 9).equals(await a.read('/in/hashed'))).toBe(false)
  expect(left).toEqual([
    { storage: 'storage_a', path: '/in/a.txt/below', reason: '/in/a.txt is a file, not a folder.' },
  ])
  expect(sandbox.events.list()).toEqual([])
})
