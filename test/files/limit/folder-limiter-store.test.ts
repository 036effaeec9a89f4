import { readdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { folderLimiterStore, OPEN_STATE } from '../../../src/files/index.ts'
import { tempFolder } from '../../support/temp-folder.ts'

const KEY = '0123456789abcdef'

test('a folder keeps the state of a key, in one file, for the next process', async () => {
  const folder = join(tempFolder(), 'limits')
  const store = folderLimiterStore(folder)
  expect(await store.load(KEY)).toBe(null)
  for (let version = 0; version < 3; version++) {
    expect(await store.save(KEY, { ...OPEN_STATE, limit: version }, version)).toBe(true)
  }
  expect(await folderLimiterStore(folder).load(KEY)).toEqual({ state: { ...OPEN_STATE, limit: 2 }, version: 3 })
  expect(readdirSync(folder)).toEqual([`${KEY}.3.json`])
})

test('of many savers of one version in a folder, one succeeds', async () => {
  const folder = tempFolder()
  const stores = Array.from({ length: 20 }, () => folderLimiterStore(folder))
  const saved = await Promise.all(stores.map((store, limit) => store.save(KEY, { ...OPEN_STATE, limit }, 0)))
  expect(saved.filter(Boolean).length).toBe(1)
  expect(await folderLimiterStore(folder).load(KEY)).toMatchObject({
    version: 1,
    state: { limit: saved.indexOf(true) },
  })
})

test('a saver whose version was superseded fails, also after its file was removed', async () => {
  const store = folderLimiterStore(tempFolder())
  await store.save(KEY, OPEN_STATE, 0)
  await store.save(KEY, OPEN_STATE, 1)
  expect(await store.save(KEY, { ...OPEN_STATE, limit: 9 }, 0)).toBe(false)
  expect(await store.load(KEY)).toEqual({ state: OPEN_STATE, version: 2 })
})

test('a file that a power cut left empty counts as an open key', async () => {
  const folder = tempFolder()
  writeFileSync(join(folder, `${KEY}.4.json`), '')
  const store = folderLimiterStore(folder)
  expect(await store.load(KEY)).toEqual({ state: OPEN_STATE, version: 4 })
  expect(await store.save(KEY, OPEN_STATE, 4)).toBe(true)
})

test('a key that is no fingerprint leads nowhere', async () => {
  await expect(folderLimiterStore(tempFolder()).load('../x')).rejects.toThrow(/fingerprint/)
})
