import { expect, test } from 'vitest'
import { z } from 'zod'
import { findClash, KeyRegistry } from '../../../src/author/event-keys.ts'
import { computeKey, planBatch, planMatch } from '../../../src/core/runs/matching.ts'

const keyed = (type: string, keys: Record<string, (data: never) => string | number | null | undefined>) => ({
  type,
  data: z.looseObject({ n: z.union([z.string(), z.number()]).nullable() }),
  keys,
})
const event = (data: object, type = 'file.created') => ({
  seq: 7,
  id: 'evt_1',
  account: 'default',
  type,
  body: JSON.stringify({ data }),
})

test('a wait is matched by the sorted names of its keys and all their values', () => {
  expect(planMatch()).toEqual({ name: '', value: '' })
  expect(planMatch({ file: 'a' })).toEqual({ name: 'file', value: 'a' })
  expect(planMatch({ path: '/x', file: 7 })).toEqual({ name: 'file+path', value: '["7","/x"]' })
  expect(planMatch({ file: 7 })).toEqual(planMatch({ file: '7' }))
})

test('long values are told apart by their hash', () => {
  const [one, other] = ['a', 'b'].map((end) => planMatch({ file: 'x'.repeat(300) + end }).value)
  expect(one).toMatch(/^sha256:[0-9a-f]{64}$/)
  expect(one).not.toBe(other)
})

test.each([undefined, null, Number.NaN, {}, true])('a wait for the value %j is refused', (value) => {
  expect(() => planMatch({ file: value })).toThrow(/must be text or a number/)
})

test('the cursors that lag behind go first, and no further than where the next ones stand', () => {
  const at = (position: number) => ({ position })
  expect(planBatch([], 10)).toBeNull()
  expect(planBatch([at(10), at(12)], 10)).toBeNull()
  expect(planBatch([at(3), at(10)], 10)).toEqual({ group: [at(3)], from: 3, to: 10 })
  expect(planBatch([at(3), at(5), at(3)], 10)).toEqual({ group: [at(3), at(3)], from: 3, to: 5 })
  expect(planBatch([at(0)], 1_000_000)).toMatchObject({ from: 0, to: 1_000 })
})

test('computes the key of an event that has one and passes over the others', () => {
  const registry = new KeyRegistry()
  registry.declare(keyed('file.created', { n: (data: { n: string | number | null }) => data.n }))
  const read = registry.reader('file.created', 'n')
  if (!read) throw new Error('it is declared')
  const cursor = { id: 3, type: 'file.created' }
  expect(computeKey(cursor, event({ n: 7 }), read)).toEqual({
    cursor: 3,
    seq: 7,
    account: 'default',
    value: '7',
    event: 'evt_1',
  })
  expect(computeKey(cursor, event({ n: null }), read)).toBeNull()
  expect(computeKey(cursor, event({ n: 7 }, 'file.deleted'), read)).toBeNull()
  expect(() => computeKey(cursor, event({}), read)).toThrow()
})

test('joins keys of several definitions of one type; any event has the empty key', () => {
  const registry = new KeyRegistry()
  registry.declare(keyed('a.b', { one: (data: { n: number }) => data.n }))
  registry.declare(keyed('a.b', { two: () => 'x' }))
  expect(registry.reader('a.b', 'one+two')?.({ n: 1 })).toBe('["1","x"]')
  expect(registry.reader('a.b', 'one+three')).toBeNull()
  expect(registry.version('a.b', 'three')).toBeNull()
  expect(registry.reader('anything', '')?.({})).toBe('')
  expect(registry.version('anything', '')).toBe('')
})

test('another function is another version, the same text the same', () => {
  const registry = new KeyRegistry()
  const versions = [(d: { n: number }) => d.n, (d: { n: number }) => d.n, (d: { n: number }) => d.n + 1].map((n) => {
    registry.declare(keyed('a.b', { n }))
    return registry.version('a.b', 'n')
  })
  expect(versions[0]).toBe(versions[1])
  expect(versions[0]).not.toBe(versions[2])
})

test('finds keys that two modules define otherwise, and takes a declaration back', () => {
  const registry = new KeyRegistry()
  const empty = registry.snapshot()
  registry.declare(keyed('a.b', { n: () => 1, m: () => 2 }))
  const first = registry.declaredSince(empty)
  const before = registry.snapshot()
  registry.declare(keyed('a.b', { n: () => 9 }))
  const second = registry.declaredSince(before)
  expect([...second.keys()]).toEqual(['a.b n'])
  expect(findClash(second, first)).toBe('a.b n')
  expect(findClash(first, first)).toBeNull()
  registry.restore(before)
  expect(registry.version('a.b', 'n')).toBe(first.get('a.b n')?.version)
})

test.each(['a b', '', 'a+b', 'x'.repeat(51)])('refuses %j as the name of a key', (name) => {
  expect(() => new KeyRegistry().declare(keyed('a.b', { [name]: () => 1 }))).toThrow(/is not a key name/)
})
