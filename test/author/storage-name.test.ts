import { expect, it } from 'vitest'
import { storageName, withStorageNames } from '../../src/author/storage-name.ts'

const SPELLINGS = { storage_a: 'doc-drive', storage_b: ['desk drive', 'deskdrive_2'] }

it('storageName takes the spellings of the account whose event is parsed, and no other', () => {
  const read = () => storageName.safeParse('doc-drive')
  expect(read().success).toBe(false)
  expect(withStorageNames(SPELLINGS, read)).toEqual({ success: true, data: 'storage_a' })
  expect(withStorageNames(SPELLINGS, () => withStorageNames({ storage_c: 'doc-drive' }, read)).data).toBe('storage_c')
  expect(read().success).toBe(false)
})

it('storageName forgets the spellings of an account when parsing its event fails', () => {
  const fail = () => {
    throw new Error('no')
  }
  expect(() => withStorageNames(SPELLINGS, fail)).toThrow('no')
  expect(storageName.safeParse('doc-drive').success).toBe(false)
})

it('storageName always takes our own names, and nothing but text', () => {
  expect(storageName.parse('storage_b')).toBe('storage_b')
  expect(storageName.safeParse(7).success).toBe(false)
})
