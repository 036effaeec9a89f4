import { expect, test } from 'vitest'
import { parseEntry, parseMoment } from '../../../src/files/reply/parse-entry.ts'
import { entry, snakeEntry } from '../support/entries.ts'

test('both forms of an entry are parsed to the same entry', () => {
  expect(parseEntry('storage_a', snakeEntry('a'))).toEqual(parseEntry('storage_a', entry('a')))
})

test('an entry may mix both forms and hold unknown fields', () => {
  const { mimeType: _, ...rest } = entry('a', { mime_type: 'image/png', novelty: { x: 1 } })
  expect(parseEntry('storage_a', rest)).toMatchObject({ mimeType: 'image/png', modifiedAt: '2026-01-02T00:00:00.000Z' })
})

test('a missing field of an entry is null, unless another field tells it', () => {
  expect(parseEntry('storage_b', { id: 7, path: 'in/x.txt' })).toEqual({
    service: 'storage_b',
    id: '7',
    name: 'x.txt',
    type: 'file',
    mimeType: null,
    size: null,
    path: '/in/x.txt',
    createdAt: null,
    modifiedAt: null,
  })
})

test.each([null, 'x', [[]], {}, { id: '' }, { id: null }])('the value %j is not an entry', (raw) => {
  expect(parseEntry('storage_a', raw)).toBe(null)
})

test.each([
  ['2026-01-02T03:04:05Z', '2026-01-02T03:04:05.000Z'],
  ['2026-01-02T03:04:05.678+02:00', '2026-01-02T01:04:05.678Z'],
  ['2026-01-02T03:04:05', '2026-01-02T03:04:05.000Z'],
  ['2026-01-02', '2026-01-02T00:00:00.000Z'],
  [1_767_322_800, '2026-01-02T03:00:00.000Z'],
  [1_767_322_800_000, '2026-01-02T03:00:00.000Z'],
  ['yesterday', null],
  ['', null],
  [null, null],
  [Number.NaN, null],
  [1e300, null],
])('the moment %j is parsed to %j', (value, moment) => {
  expect(parseMoment(value)).toBe(moment)
})
