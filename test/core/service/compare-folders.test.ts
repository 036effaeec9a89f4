import { expect, test } from 'vitest'
import { compareFolders } from '../../../src/core/service/compare-folders.ts'
import type { FileEntry } from '../../../src/core/service/file.ts'

const file = (path: string, size: number | null, type: 'file' | 'folder' = 'file'): FileEntry => ({
  service: 'storage_a',
  id: path,
  name: path.split('/').at(-1) ?? '',
  type,
  mimeType: null,
  size,
  path,
  createdAt: null,
  modifiedAt: null,
})

const standings = (...sides: Parameters<typeof compareFolders>) =>
  compareFolders(...sides).map(({ path, standing, by }) => [path, standing, by].filter(Boolean).join(' '))

test('entries are compared by their path below the folder, by type and by size', () => {
  const one = {
    path: '/in/',
    complete: true,
    items: [file('/in/a', 1), file('/in/b', 2), file('/in/c', 3), file('/in/d', null, 'folder'), file('/in/d/e', 5)],
  }
  const other = {
    path: '/',
    complete: true,
    items: [file('/a', 1), file('/b', 20), file('/c', null, 'folder'), file('/d', null, 'folder'), file('/f', 6)],
  }
  expect(standings(one, other)).toEqual([
    'a same',
    'b differs size',
    'c differs type',
    'd same',
    'd/e only_one',
    'f only_other',
  ])
})

test('an incomplete listing proves no absence, and still proves what it has', () => {
  const one = { path: '/', complete: true, items: [file('/a', 1), file('/b', 2)] }
  const other = { path: '/', complete: false, items: [file('/b', 3), file('/c', 4)] }
  expect(standings(one, other)).toEqual(['a unknown', 'b differs size', 'c only_other'])
})

test('several entries of one name are unknown', () => {
  const one = { path: '/', complete: true, items: [file('/a', 1), { ...file('/a', 1), id: 'twin' }] }
  expect(standings(one, { path: '/', complete: true, items: [file('/a', 1)] })).toEqual(['a unknown'])
})

test('an accent is the same in either spelling', () => {
  const one = { path: '/', complete: true, items: [file('/caf\u00e9', 1)] }
  const other = { path: '/', complete: true, items: [file('/cafe\u0301', 1)] }
  expect(standings(one, other)).toEqual(['caf\u00e9 same'])
})
