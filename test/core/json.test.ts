import { expect, it } from 'vitest'
import { UpshotError } from '../../src/core/errors.ts'
import { isPlainObject, toJson } from '../../src/core/json.ts'

it.each([
  [undefined, 'null'],
  [() => 1, 'null'],
  [null, 'null'],
  [Number.NaN, 'null'],
  [{ a: undefined, b: 1 }, '{"b":1}'],
  ['é"\n', '"é\\"\\n"'],
])('toJson writes %j as %s', (value, text) => expect(toJson(value, 'It')).toBe(text))

it('toJson throws for a value that JSON cannot hold', () => {
  const ring: { self?: unknown } = {}
  ring.self = ring
  expect(() => toJson(ring, 'The ring')).toThrow(/^The ring is not JSON: Converting circular structure/)
  expect(() => toJson(1n, 'It')).toThrow(UpshotError)
  const angry = {
    toJSON: () => {
      throw new Error('not me')
    },
  }
  expect(() => toJson(angry, 'It')).toThrow('It is not JSON: not me.')
})

it.each([
  [{}, true],
  [[], false],
  [null, false],
  ['text', false],
])('isPlainObject of %j is %s', (value, is) => expect(isPlainObject(value)).toBe(is))
