import fc from 'fast-check'
import { expect, test } from 'vitest'
import { UpshotError } from '../../src/core/errors.ts'
import { scanJson as scan } from '../../src/core/incoming/scan-json.ts'
import { JSON_LIMITS, readEvent } from '../../src/receive/read-event.ts'

const scanJson = (text: string) => scan(text, JSON_LIMITS)

import { eventBody } from '../support/fixtures.ts'

type Node = string | number | boolean | null | Node[] | { members: [string, Node][] }

/** A JSON tree whose objects may repeat a key, which no parser keeps. */
const { node: anyNode } = fc.letrec<{ node: Node }>((tie) => ({
  node: fc.oneof(
    { depthSize: 'small', withCrossShrink: true },
    fc.oneof(fc.string({ unit: 'binary' }), fc.constantFrom('"', '\\', '":{', '[[', '{"a":', 'a\\"b'), fc.double()),
    fc.constantFrom<Node>(true, false, null),
    fc.array(tie('node'), { maxLength: 4 }),
    fc
      .array(fc.tuple(fc.constantFrom('a', 'b', 'c', ':', '"', '\\', '1', 'ü'), tie('node')), { maxLength: 4 })
      .map((members) => ({ members: members as [string, Node][] })),
  ),
}))
const isObject = (node: Node): node is { members: [string, Node][] } =>
  typeof node === 'object' && node !== null && 'members' in node

/** Writes a key in one of its JSON forms. */
function writeKey(key: string, escaped: boolean): string {
  if (!escaped) return JSON.stringify(key)
  return `"${[...key].map((unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`).join('')}"`
}

function write(node: Node, escaped: boolean, space: string): string {
  if (Array.isArray(node)) return `[${space}${node.map((item) => write(item, escaped, space)).join(`${space},`)}]`
  if (!isObject(node)) return JSON.stringify(typeof node === 'number' && !Number.isFinite(node) ? 0 : node)
  const members = node.members.map(
    // Every second key is escaped, so that one key may have two forms.
    ([key, value], index) =>
      `${writeKey(key, escaped && index % 2 === 0)}${space}:${space}${write(value, escaped, space)}`,
  )
  return `{${members.join(`,${space}`)}${space}}`
}

/** The reference, which counts on the tree itself. */
function describeTree(node: Node): { depth: number; keys: number; isTwice: boolean } {
  const parts = Array.isArray(node) ? node : isObject(node) ? node.members.map(([, value]) => value) : []
  const below = parts.map(describeTree)
  const names = isObject(node) ? node.members.map(([key]) => key) : []
  return {
    depth: (Array.isArray(node) || isObject(node) ? 1 : 0) + Math.max(0, ...below.map(({ depth }) => depth)),
    keys: names.length + below.reduce((sum, { keys }) => sum + keys, 0),
    isTwice: new Set(names).size < names.length || below.some(({ isTwice }) => isTwice),
  }
}

const anySpace = fc.constantFrom('', ' ', '\n\t')

test('scanJson finds the depth, keys and repeated keys of any JSON tree', () => {
  fc.assert(
    fc.property(anyNode, fc.boolean(), anySpace, (node, escaped, space) => {
      const { depth, keys, isTwice } = describeTree(node)
      const shape = scanJson(write(node, escaped, space))
      // The scan stops at a repeated key.
      if (isTwice) expect(shape.hasTwin).toBe(true)
      else expect(shape).toEqual({ depth, keys, hasTwin: false })
    }),
    { numRuns: 1_000 },
  )
})

test('readEvent refuses a body exactly when an object in it repeats a key', () => {
  const head: [string, Node][] = [
    ['id', 'evt_1'],
    ['type', 'file.created'],
    ['created', '2026-06-01T11:59:58.000Z'],
  ]
  let twice = 0
  fc.assert(
    fc.property(anyNode, fc.boolean(), anySpace, (node, escaped, space) => {
      const data = { members: [['value', node]] satisfies [string, Node][] }
      const read = readEvent(Buffer.from(write({ members: [...head, ['data', data]] }, escaped, space)))
      const { isTwice } = describeTree(node)
      if (isTwice) twice += 1
      expect(read instanceof UpshotError ? read.message : 'read').toBe(
        isTwice ? 'The body has an object with the same key twice.' : 'read',
      )
    }),
    { numRuns: 1_000 },
  )
  expect(twice).toBeGreaterThan(20)
})

test('readEvent tells keys apart after a key that is a backslash', () => {
  const body = (members: string) => Buffer.from(eventBody('evt_1').replace('"data":{', `"data":{"n":{${members}},`))
  for (let n = 0; n < 3; n++) expect(readEvent(body('"x":0,"\\\\":1'))).toMatchObject({ event: { id: 'evt_1' } })
  expect(readEvent(body('"x":0,"\\"":1,"\\"":2'))).toMatchObject({ message: expect.stringContaining('twice') })
})

test('readEvent returns an event or an error for any bytes, and never throws', () => {
  const anyText = fc.oneof(fc.json(), fc.string({ unit: 'binary' }), fc.stringMatching(/^[[\]{}:,"\\ \d]{0,60}$/))
  const anyBytes = fc.oneof(
    fc.uint8Array({ maxLength: 300 }),
    anyText.map((text) => Buffer.from(text)),
  )
  fc.assert(
    fc.property(anyBytes, (bytes) => {
      const read = readEvent(Buffer.from(bytes))
      expect(read instanceof UpshotError ? read.code : 'event').toBe('invalid_event')
    }),
    { numRuns: 2_000 },
  )
})

test('scanJson stops where a limit is exceeded', () => {
  expect(scanJson('['.repeat(1_000_000)).depth).toBe(JSON_LIMITS.depth + 1)
  expect(scanJson(Array.from({ length: 20_000 }, (_, n) => `{"${n}":1}`).join(' ')).keys).toBe(JSON_LIMITS.keys + 1)
  expect(scanJson(`{${'"a":1,'.repeat(200_000)}}`)).toEqual({ depth: 1, keys: 2, hasTwin: true })
})
