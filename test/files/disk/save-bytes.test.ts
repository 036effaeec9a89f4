import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { saveBytes } from '../../../src/files/disk/save-bytes.ts'
import { tempFolder } from '../../support/temp-folder.ts'

const DATE = '2026-06-01T12:00:00.000Z'

/** Saves a file of five bytes, of which two are there from an earlier try. */
async function resume({ modifiedAt, later = modifiedAt }: { modifiedAt: string | null; later?: string | null }) {
  const to = join(tempFolder(), 'b.txt')
  const file = { service: 'storage_a', id: 'fil_1', size: 5, modifiedAt } as const
  writeFileSync(`${to}.part`, 'fi')
  const unmarked = { host: null, etag: null, modified: null, type: null, condition: null }
  writeFileSync(`${to}.part.json`, JSON.stringify({ ...file, version: unmarked }))
  async function* open(from: number) {
    yield 'fives'.slice(from)
  }
  const look = async () => ({ size: 5, modifiedAt: later })
  const given = { to, file, open, look, onProgress() {}, signal: new AbortController().signal }
  return { to, saved: saveBytes(given) }
}

test.each([
  [DATE, 2],
  // Nothing tells that the two bytes are of this version.
  [null, 0],
])('a part of a file with the date %s is continued from %d', async (modifiedAt, resumedFrom) => {
  const { to, saved } = await resume({ modifiedAt })
  expect(await saved).toMatchObject({ bytes: 5, resumedFrom })
  expect(readFileSync(to, 'utf8')).toBe('fives')
})

test('a file that changed while the rest of a part was read is not saved, and read anew next time', async () => {
  const { to, saved } = await resume({ modifiedAt: DATE, later: '2026-06-01T12:00:01.000Z' })
  await expect(saved).rejects.toThrow('The file changed while it was read.')
  expect([to, `${to}.part`].map((path) => existsSync(path))).toEqual([false, false])
})
