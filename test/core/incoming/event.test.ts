import { describe, expect, it } from 'vitest'
import { UpshotError } from '../../../src/core/errors.ts'
import { matchType } from '../../../src/core/incoming/event.ts'
import { parseEvent } from '../../../src/core/incoming/parse-event.ts'

const EVENT = { id: 'evt_1', type: 'file.created', created: '2026-01-01T00:00:00.000Z', data: { file: { id: '1' } } }

function faultsOf(body: unknown): unknown {
  try {
    parseEvent(body)
  } catch (error) {
    if (error instanceof UpshotError) return error.details.faults
  }
  throw new Error('it was read')
}

describe('parseEvent', () => {
  it('parseEvent keeps fields that it does not know', () => {
    const body = { ...EVENT, account: 'a1', data: { file: { id: '1', colour: 'red' } } }
    expect(parseEvent(body)).toEqual(body)
  })

  it.each(['transfer.completed', 'something.entirely.new', 'single', 'with_underscore.and-dash'])(
    'parseEvent accepts the type %s',
    (type) => expect(parseEvent({ ...EVENT, type }).type).toBe(type),
  )

  it.each(['2026-01-01T00:00:00Z', '2026-01-01T02:00:00.123456+02:00'])(
    'parseEvent accepts %s as the creation time',
    (created) => expect(parseEvent({ ...EVENT, created }).created).toBe(created),
  )

  it.each([
    ['an id without its prefix', { id: '1' }, 'id'],
    ['an empty id', { id: 'evt_' }, 'id'],
    ['an id with a space', { id: 'evt_a b' }, 'id'],
    ['an id with a line break at its end', { id: 'evt_a\n' }, 'id'],
    ['an endless id', { id: `evt_${'a'.repeat(200)}` }, 'id'],
    ['an id that is a number', { id: 1 }, 'id'],
    ['a type with an empty word', { type: 'file..created' }, 'type'],
    ['a pattern for a type', { type: 'file.*' }, 'type'],
    ['no type', { type: undefined }, 'type'],
    ['a day for a moment', { created: '2026-01-01' }, 'created'],
    ['a moment without an offset', { created: '2026-01-01T00:00:00' }, 'created'],
    ['a list for data', { data: [] }, 'data'],
    ['no data', { data: null }, 'data'],
  ])('parseEvent refuses %s and says where it is', (_, part, at) => {
    expect(faultsOf({ ...EVENT, ...part })).toEqual([{ at, fault: expect.any(String) }])
  })

  it('parseEvent lists every fault at once', () => {
    expect(faultsOf({})).toMatchObject([{ at: 'id' }, { at: 'type' }, { at: 'created' }, { at: 'data' }])
  })

  it.each([null, undefined, 'text', 7, []])('parseEvent refuses a body that is %j', (body) =>
    expect(faultsOf(body)).toMatchObject([{ at: '(body)' }]),
  )
})

describe('matchType', () => {
  it.each([
    ['*', 'file.created', true],
    ['file.created', 'file.created', true],
    ['file.*', 'file.created', true],
    ['file.*', 'file.version.created', true],
    ['file.*', 'file', false],
    ['file.*', 'files.created', false],
    ['file.created', 'file.created.again', false],
    ['file', 'file.created', false],
    ['file*', 'file.created', false],
    ['*', 'upshot.test', false],
    ['upshot.*', 'upshot.test', true],
    ['upshot.test', 'upshot.test', true],
    ['*', 'upshots.test', true],
  ])('matchType of the pattern %s and the type %s is %s', (pattern, type, is) =>
    expect(matchType(pattern, type)).toBe(is),
  )
})
