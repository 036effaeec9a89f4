import { expect, it } from 'vitest'
import { isPlainObject, toJson } from '../../src/core/json.ts'

it.each([
  [undefined, 'null'],
  [() => 1, 'null'],
  [null, 'null'],
  [Number.NaN, 'null'],
  [{ a: undefined, b: 1 }, '{"b":1}'],
  ['é"\n', '"é\\"\\n"'],
])('toJson writes %j as %s', (value, text) => expect(toJson(value)).toBe(text))

it('toJson throws for a value that JSON cannot hold', () => {
  const ring: { self?: unknown } = {}
  ring.self = ring
  expect(() => toJson(ring)).toThrow(TypeError)
  expect(() => toJson(1n)).toThrow(TypeError)
})

it.each([
  [{}, true],
  [[], false],
  [null, false],
  ['text', false],
])('isPlainObject of %j is %s', (value, is) => expect(isPlainObject(value)).toBe(is))
