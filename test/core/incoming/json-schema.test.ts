import { expect, test } from 'vitest'
import { z } from 'zod'
import { findMisfits, writeJsonSchema } from '../../../src/core/incoming/json-schema.ts'

test.each<[string, z.ZodType, unknown]>([
  ['a pattern that ignores case', z.string().regex(/^abc$/i), 'ABC'],
  ['a pattern of Unicode', z.string().regex(/^\p{L}+$/u), 'é'],
  ['two patterns', z.string().regex(/^a/).regex(/B$/i), 'ab'],
  ['a pattern of the names', z.record(z.string().regex(/^k/i), z.int()), { K1: 1 }],
  ['an emoji', z.emoji(), '😀'],
  ['a UUID of no version', z.guid(), '0190a5de-0000-0000-0000-000000000000'],
])('what fits a schema fits its JSON Schema: %s', (_, schema, value) => {
  expect(schema.safeParse(value).success).toBe(true)
  expect(findMisfits(writeJsonSchema(z.object({ value: schema })), { value })).toEqual([])
})

test('a pattern without flags is compared, and so is a number', () => {
  const schema = writeJsonSchema(z.object({ word: z.string().regex(/^a/), count: z.int() }))
  expect(findMisfits(schema, { word: 'b', count: 1.5 }).map(({ at }) => at)).toEqual(['word', 'count'])
})

test('a schema that cannot be read takes everything', () => {
  expect(findMisfits({ $ref: '#/nowhere' }, 1)).toEqual([])
})
