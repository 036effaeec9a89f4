import { describe, expect, it } from 'vitest'
import { storageName, withStorageNames } from '../../../src/author/storage-name.ts'
import { findStorage } from '../../../src/core/service/storage.ts'

const SPELLINGS = { storage_a: 'doc-drive', storage_b: ['desk drive', 'deskdrive_2'] }

describe('findStorage', () => {
  it.each([
    ['storage_a', 'storage_a'],
    ['Storage-C', 'storage_c'],
    ['DOC_DRIVE', 'storage_a'],
    ['deskdrive-2', 'storage_b'],
    ['tape', null],
    ['', null],
    [undefined, null],
  ])('knows %s as %s', (name, storage) => expect(findStorage(name, SPELLINGS)).toBe(storage))
})

describe('storageName', () => {
  it('takes the spellings of the account whose event is read, and of no other', () => {
    const read = () => storageName.safeParse('doc-drive')
    expect(read().success).toBe(false)
    expect(withStorageNames(SPELLINGS, read)).toEqual({ success: true, data: 'storage_a' })
    expect(withStorageNames(SPELLINGS, () => withStorageNames({ storage_c: 'doc-drive' }, read)).data).toBe('storage_c')
    expect(read().success).toBe(false)
  })

  it('forgets an account also when its event cannot be read', () => {
    const fail = () => {
      throw new Error('no')
    }
    expect(() => withStorageNames(SPELLINGS, fail)).toThrow('no')
    expect(storageName.safeParse('doc-drive').success).toBe(false)
  })

  it('takes our own names always, and nothing but text', () => {
    expect(storageName.parse('storage_b')).toBe('storage_b')
    expect(storageName.safeParse(7).success).toBe(false)
  })
})
