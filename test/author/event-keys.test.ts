import { expect, test } from 'vitest'
import { z } from 'zod'
import { findClash, KeyRegistry } from '../../src/author/event-keys.ts'

const keyed = (type: string, keys: Record<string, (data: never) => string | number | null | undefined>) => ({
  type,
  data: z.looseObject({ n: z.union([z.string(), z.number()]).nullable() }),
  keys,
})

test('a reader parses the data of an event and returns the text of its key', () => {
  const registry = new KeyRegistry()
  registry.declare(keyed('file.created', { n: (data: { n: string | number | null }) => data.n }))
  const read = registry.reader('file.created', 'n')
  expect(read?.({ n: 7 })).toBe('7')
  expect(read?.({ n: null })).toBeNull()
  expect(() => read?.({})).toThrow()
})

test('a key has another version with another function, and the same with the same text', () => {
  const registry = new KeyRegistry()
  const versions = [(d: { n: number }) => d.n, (d: { n: number }) => d.n, (d: { n: number }) => d.n + 1].map((n) => {
    registry.declare(keyed('a.b', { n }))
    return registry.version('a.b', 'n')
  })
  expect(versions[0]).toBe(versions[1])
  expect(versions[0]).not.toBe(versions[2])
})

test('the registry finds keys that two modules define differently, and restores a snapshot', () => {
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

test.each(['a b', '', 'a+b', 'x'.repeat(51)])('the registry refuses %j as the name of a key', (name) => {
  expect(() => new KeyRegistry().declare(keyed('a.b', { [name]: () => 1 }))).toThrow(/is not a key name/)
})
