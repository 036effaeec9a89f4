import { expect, it } from 'vitest'
import { findStorage } from '../../../src/core/service/storage.ts'

const SPELLINGS = { storage_a: 'doc-drive', storage_b: ['desk drive', 'deskdrive_2'] }

it.each([
  ['storage_a', 'storage_a'],
  ['Storage-C', 'storage_c'],
  ['DOC_DRIVE', 'storage_a'],
  ['deskdrive-2', 'storage_b'],
  ['tape', null],
  ['', null],
  [undefined, null],
])('findStorage knows %j as %j', (name, storage) => expect(findStorage(name, SPELLINGS)).toBe(storage))
