import { readFile, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, test, vi } from 'vitest'
import { ManualClock } from '../../../src/core/time.ts'
import { PartFile } from '../../../src/files/disk/part-file.ts'
import { KeptHashes } from '../../../src/files/disk/part-hash.ts'
import { tempFolder } from '../../support/temp-folder.ts'

const { beforeRename } = vi.hoisted(() => ({ beforeRename: { once: null as (() => Promise<void>) | null } }))
vi.mock('node:fs/promises', async (load) => {
  const actual = await load<typeof import('node:fs/promises')>()
  return {
    ...actual,
    async rename(from: string, to: string) {
      const act = beforeRename.once
      beforeRename.once = null
      await act?.()
      await actual.rename(from, to)
    },
  }
})

const UNMARKED = { host: null, etag: null, modified: null, type: null, condition: null }

/** A download to this path as a process of its own begins it. */
async function begin(to: string, modifiedAt: string): Promise<PartFile> {
  const wanted = { service: 'storage_a', id: 'a', size: 8, modifiedAt }
  const { signal } = new AbortController()
  const part = await PartFile.open({
    to,
    wanted,
    resume: true,
    kept: new KeptHashes(),
    clock: new ManualClock(),
    signal,
  })
  await part.expectFrom(part.bytes, UNMARKED)
  return part
}

test.each([
  ['other versions', '2026-01-02T00:00:00.000Z', 'aaaa'],
  ['versions that look alike', '2026-01-01T00:00:00.000Z', ''],
])('two processes that download %s to one path join none of their bytes', async (_, modifiedAt, begun) => {
  const to = join(tempFolder(), 'x')
  const first = await begin(to, '2026-01-01T00:00:00.000Z')
  await first.append(Buffer.from(begun))
  const second = await begin(to, modifiedAt)
  await second.append(Buffer.from('bbbb'))
  await first.append(Buffer.from('aaaa'))
  await expect(first.finish()).rejects.toMatchObject({ code: 'conflict' })
  await first.discard()
  await second.append(Buffer.from('bbbb'))
  await second.finish()
  expect(await readFile(to, 'utf8')).toBe('bbbbbbbb')
})

test('a process that connects again leaves the marks of another one as they are', async () => {
  const to = join(tempFolder(), 'x')
  const first = await begin(to, '2026-01-01T00:00:00.000Z')
  await first.append(Buffer.from('aaaa'))
  const second = await begin(to, '2026-01-02T00:00:00.000Z')
  await second.append(Buffer.from('bbbb'))
  await expect(first.expectFrom(first.bytes, UNMARKED)).rejects.toMatchObject({ code: 'conflict' })
  await first.leave()
  await second.leave()
  const third = await begin(to, '2026-01-02T00:00:00.000Z')
  expect(third.bytes).toBe(4)
  await third.discard()
})

test('two processes that continue one part join no bytes where the file changes for one of them', async () => {
  const to = join(tempFolder(), 'x')
  const before = await begin(to, '2026-01-01T00:00:00.000Z')
  await before.append(Buffer.from('aaaa'))
  await before.leave()
  const [first, second] = [await begin(to, '2026-01-01T00:00:00.000Z'), await begin(to, '2026-01-01T00:00:00.000Z')]
  await second.expectFrom(0, UNMARKED)
  await first.append(Buffer.from('aaaa'))
  await second.append(Buffer.from('bbbbbbbb'))
  await expect(first.finish()).rejects.toMatchObject({ code: 'conflict' })
  await first.leave()
  await second.finish()
  expect(await readFile(to, 'utf8')).toBe('bbbbbbbb')
})

test('a part that another process begins at the last moment never lies at the target', async () => {
  const to = join(tempFolder(), 'x')
  const first = await begin(to, '2026-01-01T00:00:00.000Z')
  await first.append(Buffer.from('aaaaaaaa'))
  let second: PartFile | null = null
  beforeRename.once = async () => {
    second = await begin(to, '2026-01-02T00:00:00.000Z')
  }
  await expect(first.finish()).rejects.toMatchObject({ code: 'conflict' })
  await expect(stat(to)).rejects.toMatchObject({ code: 'ENOENT' })
  await first.discard()
  if (second === null) throw new Error('nobody began')
  await (second as PartFile).append(Buffer.from('bbbbbbbb'))
  await (second as PartFile).finish()
  expect(await readFile(to, 'utf8')).toBe('bbbbbbbb')
})
