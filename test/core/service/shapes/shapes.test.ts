import fc from 'fast-check'
import { expect, test } from 'vitest'
import { z } from 'zod'
import { storageName } from '../../../../src/author/storage-name.ts'
import { chooseUnions, findSplits, foldSplits } from '../../../../src/core/service/shapes/find-unions.ts'
import { compareOutlines, fitsOutline, mergeOutlines, outlineOf } from '../../../../src/core/service/shapes/outline.ts'
import { emptyShape, foldBody, MAX_NAMES, mergeShapes, type Shape } from '../../../../src/core/service/shapes/shape.ts'
import { writeSchema } from '../../../../src/core/service/shapes/write-schema.ts'

/** Values that meet often, so that merged places have several kinds, words and formats. */
const leaf = fc.oneof(
  fc.constantFrom(
    null,
    true,
    0,
    -0,
    1.5,
    2 ** 60,
    'completed',
    'failed',
    'storage-a',
    '/in/a.pdf',
    'fil_1a2b3c',
    'abcdef12',
  ),
  fc.constantFrom(
    '2026-01-02',
    '2026-02-30',
    '2026-01-02T03:04:05Z',
    '2026-01-02T25:04:05Z',
    'https://a.example/x',
    'https://',
  ),
  fc.constantFrom('00000000-0000-0000-0000-000000000000', ' a b ', 'ä', "it's", ''),
  fc.string(),
)
const names = fc.constantFrom(
  'id',
  'fileId',
  'service',
  'status',
  'path',
  '__proto__',
  'constructor',
  'a-b',
  'fil_123456',
  'x.y',
)
const body = fc.letrec((tie) => ({
  value: fc.oneof({ maxDepth: 4 }, leaf, fc.array(tie('value'), { maxLength: 3 }), tie('object')),
  object: fc.array(fc.tuple(names, tie('value')), { maxLength: 6 }).map(toObject),
})).object
const bodies = fc.array(body, { minLength: 1, maxLength: 12 })

/** As `JSON.parse` makes it: `__proto__` is a name like any other. */
function toObject(entries: [string, unknown][]): unknown {
  return JSON.parse(
    `{${entries.map(([name, value]) => `${JSON.stringify(name)}:${JSON.stringify(value) ?? 'null'}`).join()}}`,
  )
}

function foldAll(all: readonly unknown[]): Shape {
  return all.reduce<Shape>((shape, each) => foldBody(shape, each), emptyShape())
}

function schemaOf(all: readonly unknown[], minShare = 0): z.ZodType {
  const shape = foldAll(all)
  const splits = findSplits(shape)
  for (const each of all) foldSplits(splits, each)
  const text = writeSchema(shape, { minShare, unions: chooseUnions(splits) })
  return new Function('z', 'storageName', `return ${text}`)(z, storageName)
}

test('a shape is the same in any order, and from any halves', () => {
  fc.assert(
    fc.property(bodies, fc.nat(), (all, cut) => {
      const whole = foldAll(all)
      const at = cut % all.length
      expect(foldAll(all.toReversed())).toEqual(whole)
      expect(mergeShapes(foldAll(all.slice(at)), foldAll(all.slice(0, at)))).toEqual(whole)
    }),
    { numRuns: 50 },
  )
})

test('the schema that is written takes each body that it was made from', () => {
  fc.assert(
    fc.property(bodies, fc.boolean(), (few, isRepeated) => {
      // Many of each, so that formats, enumerations and unions are proven.
      const all = isRepeated ? Array.from({ length: 60 }, () => few).flat() : few
      const schema = schemaOf(all)
      for (const each of all) expect(schema.safeParse(each).error).toBeUndefined()
    }),
    { numRuns: 30 },
  )
})

test('an outline of merged shapes is the merged outline of each, and allows each', () => {
  fc.assert(
    fc.property(bodies, (all) => {
      const each = all.map((one) => outlineOf(foldBody(emptyShape(), one)))
      const merged = each.reduce(mergeOutlines)
      expect(merged).toEqual(outlineOf(foldAll(all)))
      for (const one of each) expect(compareOutlines(merged, one)).toEqual([])
      for (const one of all)
        if (fitsOutline(each[0] ?? {}, one))
          expect(mergeOutlines(each[0] ?? {}, outlineOf(foldBody(emptyShape(), one)))).toEqual(each[0])
    }),
    { numRuns: 50 },
  )
})

const transfer = (n: number) => ({
  id: `trf_${n + 1_000_000}`,
  status: n % 3 === 0 ? 'failed' : 'completed',
  bytes: n === 7 ? 0.5 : n,
  ...(n % 3 === 0 ? { error: { code: `c${n % 2}` } } : { finishedAt: new Date(n).toISOString() }),
  note: n % 2 === 0 ? null : `note ${n}`,
})

test('a word that decides which names an object has becomes a discriminated union', () => {
  const all = Array.from({ length: 60 }, (_, n) => ({ transfer: transfer(n) }))
  const shape = foldAll(all)
  const splits = findSplits(shape)
  for (const each of all) foldSplits(splits, each)
  expect(writeSchema(shape, { unions: chooseUnions(splits) })).toMatchInlineSnapshot(`
    "z.looseObject({
      transfer: z.discriminatedUnion('status', [
        z.looseObject({
          bytes: z.number(),
          finishedAt: z.string(),
          id: z.string(),
          note: z.string().nullable(), // null in 20
          status: z.literal('completed'),
        }),
        z.looseObject({
          bytes: z.int(),
          error: z.looseObject({
            code: z.string(),
          }),
          id: z.string(),
          note: z.string().nullable(), // null in 10
          status: z.literal('failed'),
        }),
      ]),
    })"
  `)
})

test('an enumeration needs 50 texts, each word three times, and a name that is of nobody', () => {
  const write = (count: number, name: string, word = (n: number) => `w${n % 2}`) =>
    writeSchema(foldAll(Array.from({ length: count }, (_, n) => ({ [name]: word(n) }))))
  expect(write(50, 'status')).toContain(`z.enum(['w0', 'w1'])`)
  expect(write(49, 'status')).toContain('z.string()')
  expect(write(50, 'status', (n) => (n < 2 ? 'rare' : 'often'))).toContain('z.string()')
  expect(write(50, 'status', (n) => (n < 3 ? 'rare' : 'often'))).toContain(`z.enum(['often', 'rare'])`)
  expect(write(50, 'userName')).toContain('z.string()')
  expect(write(39, 'kind', (n) => `w${n % 13}`)).toContain('z.string()')
})

test('a format needs 50 texts, but for the name of a storage', () => {
  const write = (count: number) =>
    writeSchema(foldAll(Array.from({ length: count }, () => ({ at: '2026-01-02', path: '/a', service: 'Storage A' }))))
  expect(write(49)).toBe('z.looseObject({\n  at: z.string(),\n  path: z.string(),\n  service: storageName,\n})')
  expect(write(50)).toContain('at: z.iso.date(),')
})

test('names that are values make a record, and no name of theirs is written', () => {
  const ids = (count: number) =>
    Object.fromEntries(Array.from({ length: count }, (_, n) => [`fil_${1_000 + n}`, { size: n }]))
  expect(writeSchema(foldAll([{ files: ids(3) }]))).toContain('files: z.record(z.string(), z.looseObject({')
  const words = (count: number) => Object.fromEntries(Array.from({ length: count }, (_, n) => [`name${n}`, n]))
  expect(writeSchema(foldAll([words(51)]))).toBe('z.record(z.string(), z.int())')
  expect(writeSchema(foldAll([words(50)]))).toContain('name49: z.int()')
  const late = foldAll([words(MAX_NAMES), { another: 1 }])
  expect(late.objects?.kind).toBe('record')
})

test('one odd event of 2,000 does not make everything optional where --min-share says so', () => {
  const all = [...Array.from({ length: 1_999 }, (_, n) => ({ id: `fil_${n + 1_000_000}`, size: n })), { odd: true }]
  expect(writeSchema(foldAll(all))).toContain('size: z.int().optional()')
  const text = writeSchema(foldAll(all), { minShare: 0.001 })
  expect(text).toContain('size: z.int(),')
  expect(text).not.toContain('odd')
})

test('no value of an event is in what is written', () => {
  const canary = (n: number) => `canary${n.toString(36)}x`
  const all = Array.from({ length: 200 }, (_, n) => ({
    name: canary(n % 3),
    email: `${canary(n)}@example.com`,
    deep: [{ [`${canary(n)}@x`]: canary(n) }],
    word: canary(n),
    url: `https://example.com/${canary(n)}`,
    path: `/in/${canary(n)}`,
    id: `${canary(n)}_12345678`,
    [canary(n)]: n,
  }))
  const shape = foldAll(all)
  expect(writeSchema(shape) + JSON.stringify(outlineOf(shape))).not.toContain('canary')
})

test('a change is told with its place, what it is and what it was', () => {
  const known = outlineOf(
    foldAll([{ file: { id: 'a', size: 1.5, tags: ['x'] } }, { file: { id: 'b', size: 1, tags: [], note: null } }]),
  )
  const changes = (one: unknown) => compareOutlines(known, outlineOf(foldBody(emptyShape(), one)))
  expect(changes({ file: { id: 'c', size: 1, tags: [] } })).toEqual([])
  expect(changes({ file: { id: 'c', size: '1', tags: [1], extra: { a: 1 } } })).toEqual([
    'data.file.extra: object, is new',
    'data.file.size: text, was integer or number',
    'data.file.tags[]: integer, was text',
  ])
  expect(changes({ file: { id: 'c', size: 1 } })).toEqual(['data.file.tags: missing, was always there'])
  expect(changes({ file: null })).toEqual(['data.file: null, was object'])
})
