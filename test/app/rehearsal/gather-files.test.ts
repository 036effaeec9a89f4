import { expect, test } from 'vitest'
import { gatherFiles, type ReadStep } from '../../../src/app/rehearsal/gather-files.ts'

const step = (key: string, target: string, output: unknown, status: ReadStep['status'] = 'completed'): ReadStep => ({
  key,
  target,
  status,
  output: JSON.stringify(output),
})
const entry = (id: string, path: string, more: object = {}) => ({
  service: 'storage_a',
  id,
  path,
  type: 'file',
  size: 5,
  createdAt: null,
  modifiedAt: '2026-01-02T00:00:00.000Z',
  ...more,
})
const file = (id: string | null, path: string | null, more: object = {}) => ({
  storage: 'storage_a',
  id,
  path,
  type: 'file',
  size: null,
  createdAt: null,
  modifiedAt: null,
  sha256: null,
  ...more,
})
const NONE = { type: 'tidy.asked', data: {} }

test('an event names its file with the storage around it, under any spelling', () => {
  const data = { service: 'Docs Suite', file: { id: 'fil_1', path: '/a', size: 7, name: 'a' } }
  expect(gatherFiles({ type: 'file.created', data }, [], { storage_a: 'docs-suite' })).toEqual([
    file('fil_1', '/a', { size: 7 }),
  ])
  expect(gatherFiles({ type: 'file.created', data }, [], {})).toEqual([])
})

test('a file that the event calls deleted is not there, unless a read has found it', () => {
  const data = { service: 'storage_a', file: { id: 'fil_1', path: '/a' } }
  const get = step('files.get[storage_a:fil_1]', 'storage_a:fil_1', entry('fil_1', '/a'))
  expect(gatherFiles({ type: 'file.deleted', data }, [], {})).toEqual([])
  expect(gatherFiles({ type: 'file.deleted', data }, [get], {})).toHaveLength(1)
})

test('a completed transfer has its source and its copy, of the size that it names', () => {
  const transfer = {
    id: 'trf_1',
    filesTotal: 1,
    bytesTotal: 9,
    source: { service: 'storage_a', path: '/a', fileId: 'fil_1' },
    destination: { service: 'storage_b', path: '/b/a' },
  }
  const [source, copy] = [file('fil_1', '/a', { size: 9 }), file(null, '/b/a', { storage: 'storage_b', size: 9 })]
  expect(gatherFiles({ type: 'transfer.completed', data: { transfer } }, [], {})).toEqual([source, copy])
  expect(gatherFiles({ type: 'transfer.failed', data: { transfer } }, [], {})).toEqual([source])
})

test('reads tell the first state of a file, and later ones fill gaps alone', () => {
  const found = gatherFiles(
    { type: 'file.created', data: { service: 'storage_a', file: { id: 'fil_1', path: '/late', size: 1 } } },
    [
      step('files.hash[storage_a:fil_1]', 'storage_a:fil_1', { sha256: 'ab', bytes: 5, proof: 'size' }),
      step('files.get[storage_a:fil_1]', 'storage_a:fil_1', entry('fil_1', '/a', { size: 6 })),
      step('files.list[storage_a:/]', 'storage_a:/', { items: [entry('fil_2', '/b'), entry('fil_9', '/a')] }),
      step('files.get[storage_a:fil_3]', 'storage_a:fil_3', entry('fil_3', '/c'), 'failed'),
      step('look', 'storage_a:fil_4', entry('fil_4', '/d')),
    ],
    {},
  )
  const modifiedAt = Date.parse('2026-01-02T00:00:00.000Z')
  expect(found).toEqual([
    file('fil_1', '/a', { size: 5, modifiedAt, sha256: 'ab' }),
    file('fil_2', '/b', { size: 5, modifiedAt }),
  ])
})

test('a word that is no storage, a root and a mere word are no files', () => {
  const data = { service: 'elsewhere', file: { id: 'fil_1' }, path: '/x', user: { id: 'usr_1' } }
  expect(gatherFiles({ type: 'tidy.asked', data }, [], {})).toEqual([])
  expect(gatherFiles({ ...NONE, data: { service: 'storage_a', path: '/', user: { id: 'usr_1' } } }, [], {})).toEqual([])
})
