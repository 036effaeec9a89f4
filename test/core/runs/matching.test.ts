import { expect, test } from 'vitest'
import { computeKey, planBatch, planMatch } from '../../../src/core/runs/matching.ts'

const event = (data: object, type = 'file.created') => ({
  stream: 0,
  seq: 7,
  id: 'evt_1',
  account: 'default',
  type,
  body: JSON.stringify({ data }),
})

test('planMatch joins the sorted names of the keys and their values', () => {
  expect(planMatch()).toEqual({ name: '', value: '' })
  expect(planMatch({ file: 'a' })).toEqual({ name: 'file', value: 'a' })
  expect(planMatch({ path: '/x', file: 7 })).toEqual({ name: 'file+path', value: '["7","/x"]' })
  expect(planMatch({ file: 7 })).toEqual(planMatch({ file: '7' }))
})

test('planMatch replaces long values by their hash', () => {
  const [one, other] = ['a', 'b'].map((end) => planMatch({ file: 'x'.repeat(300) + end }).value)
  expect(one).toMatch(/^sha256:[0-9a-f]{64}$/)
  expect(one).not.toBe(other)
})

test('planMatch gives many keys a value that fits an index, too', () => {
  const where = (last: string) => ({ a: '名'.repeat(200), b: '名'.repeat(200), c: last })
  const [one, other] = ['1', '2'].map((last) => planMatch(where(last)).value)
  expect(one).toMatch(/^sha256:[0-9a-f]{64}$/)
  expect(one).not.toBe(other)
})

test.each([undefined, null, Number.NaN, {}, true])('planMatch refuses the value %j', (value) => {
  expect(() => planMatch({ file: value })).toThrow(/must be text or a number/)
})

test('planMatch refuses half of a character, which would equal any other half', () => {
  expect(() => planMatch({ file: '\ud800' })).toThrow(/The key "file" holds half of a character/)
  expect(planMatch({ file: '😀' })).toEqual({ name: 'file', value: '😀' })
})

test('planMatch says that a key function must be synchronous', () => {
  expect(() => planMatch({ file: Promise.resolve('a') })).toThrow(/not a promise: its function must be synchronous/)
})

test('planBatch moves the cursors that lag furthest, up to the next cursor', () => {
  const at = (position: number) => ({ stream: 0, position })
  const upTo = (newest: number) => new Map([[0, newest]])
  expect(planBatch([], upTo(10))).toBeNull()
  expect(planBatch([at(10), at(12)], upTo(10))).toBeNull()
  expect(planBatch([at(3), at(10)], upTo(10))).toEqual({ group: [at(3)], stream: 0, from: 3, to: 10 })
  expect(planBatch([at(3), at(5), at(3)], upTo(10))).toEqual({ group: [at(3), at(3)], stream: 0, from: 3, to: 5 })
  expect(planBatch([at(0)], upTo(1_000_000))).toMatchObject({ from: 0, to: 1_000 })
})

test('planBatch never mixes the numbers of two streams', () => {
  const at = (stream: number, position: number) => ({ stream, position })
  const newest = new Map([
    [1, 8],
    [2, 20],
  ])
  const cursors = [at(1, 3), at(2, 3), at(1, 5), at(2, 4)]
  expect(planBatch(cursors, newest)).toEqual({ group: [at(2, 3)], stream: 2, from: 3, to: 4 })
  expect(planBatch(cursors, new Map([[1, 8]]))).toEqual({ group: [at(1, 3)], stream: 1, from: 3, to: 5 })
})

test('computeKey returns the key of an event, and null for other types and events without one', () => {
  const cursor = { id: 3, type: 'file.created' }
  expect(computeKey(cursor, event({ n: 7 }), readN)).toEqual({
    cursor: 3,
    seq: 7,
    account: 'default',
    value: '7',
    event: 'evt_1',
  })
  expect(computeKey(cursor, event({ n: null }), readN)).toBeNull()
  expect(computeKey(cursor, event({ n: 7 }, 'file.deleted'), readN)).toBeNull()
  expect(() => computeKey(cursor, event({}), readN)).toThrow('no key n')
  expect(() => computeKey(cursor, { ...event({ n: 7 }), body: '' }, readN)).toThrow('is pruned')
})

function readN(data: unknown): string | null {
  const { n } = data as { n?: number | null }
  if (n === undefined) throw new Error('no key n')
  return n === null ? null : String(n)
}
