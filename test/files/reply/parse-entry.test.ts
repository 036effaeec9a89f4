import { expect, onTestFinished, test } from 'vitest'
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

test.each([
  ['2026-06-01T12:00:00', '2026-06-01T12:00:00.000Z'],
  ['2026-06-01T12:00', '2026-06-01T12:00:00.000Z'],
  ['2026-06-01 12:00:00.5', '2026-06-01T12:00:00.500Z'],
  ['2026-06-01', '2026-06-01T00:00:00.000Z'],
  ['2026-06-01T12:00:00+02:00', '2026-06-01T10:00:00.000Z'],
  ['2026-06-01T12:00:00-0230', '2026-06-01T14:30:00.000Z'],
  ['2024-02-29T00:00:00Z', '2024-02-29T00:00:00.000Z'],
  ['2026-02-30T00:00:00Z', null],
  ['2026-02-29', null],
  ['2026-06-31T00:00:00Z', null],
  ['2026-06-01T24:30:00Z', null],
  ['2026-06-01 GMT+5', null],
  ['01.06.2026', null],
])('the moment "%s" is read in UTC, or not at all', (text, moment) => {
  const zone = process.env.TZ
  process.env.TZ = 'America/New_York'
  onTestFinished(() => {
    process.env.TZ = zone
    if (zone === undefined) delete process.env.TZ
  })
  expect(parseMoment(text)).toBe(moment)
})
