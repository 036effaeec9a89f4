import { runInNewContext } from 'node:vm'
import { expect, it } from 'vitest'
import { isPlainObject, toJson } from '../../src/core/json.ts'

it.each([
  [undefined, 'null'],
  [() => 1, 'null'],
  [null, 'null'],
  [Number.NaN, 'null'],
  [{ a: undefined, b: 1 }, '{"b":1}'],
  ['é"\n', '"é\\"\\n"'],
])('toJson writes %j as %s', (value, text) => expect(toJson(value, 'It')).toBe(text))

class Hidden {
  readonly #held = 1
  get held() {
    return this.#held
  }
}

it.each<[unknown, string]>([
  [
    new Map([['a', 1]]),
    'It is of class Map, and JSON keeps nothing of that. Use Object.fromEntries(map), or [...map].',
  ],
  [
    { a: [{ found: new Set([1]) }] },
    'It holds "found", which is of class Set, and JSON keeps nothing of that. Use [...set].',
  ],
  [[1, new Map()], 'It holds "1", which is of class Map'],
  [
    { later: Promise.resolve(1) },
    'It holds "later", which is of class Promise, and JSON keeps nothing of that. Use await promise.',
  ],
  [
    { of: new Hidden() },
    'of class Hidden, and JSON keeps nothing of that. Use an object with the fields that you need.',
  ],
  [new (class {})(), 'It is of class (without a name), and JSON keeps nothing'],
])('toJson refuses %j, of which JSON would keep nothing', (value, message) => {
  expect(() => toJson(value, 'It')).toThrow(message)
})

it.each([
  { none: {}, bare: Object.create(null), text: '{}', list: [] },
  { error: new TypeError('rare') },
  { at: new Date(0), n: Object(1), of: { toJSON: () => ({}) }, foreign: runInNewContext('({})') },
])('toJson takes %j as JSON does', (value) => {
  expect(toJson(value, 'It')).toBe(JSON.stringify(value))
})

it.each([
  [{}, true],
  [[], false],
  [null, false],
  ['text', false],
])('isPlainObject of %j is %s', (value, is) => expect(isPlainObject(value)).toBe(is))
