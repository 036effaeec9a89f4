import { expect, test } from 'vitest'
import { z } from 'zod'
import { ROUTES } from '../../../src/admin/contract/routes.ts'
import { wrapAnswer, wrapRefusal } from '../../../src/admin/mcp/create-agent-server.ts'
import { toKnown } from '../../../src/admin/perform/to-known.ts'
import { UpshotError } from '../../../src/core/errors.ts'

/** A tool whose list has pages, and one whose list has none. */
const [PAGED, WHOLE] = [{ query: z.object({ limit: z.int(), after: z.string() }) }, {}]
const textOf = ({ content }: ReturnType<typeof wrapAnswer>) => content.map(({ text }) => text).join('')

test('a small answer is told whole, and an empty one as done', () => {
  expect(textOf(wrapAnswer({ items: [1], next: 'n' }, PAGED))).toBe('{"items":[1],"next":"n"}')
  expect(textOf(wrapAnswer(undefined, WHOLE))).toBe('{"done":true}')
})

test('a large list is cut to whole items, without a `next` that would skip the others', () => {
  const items = Array.from({ length: 400 }, (_, id) => ({ id, text: 'x'.repeat(id % 7 === 0 ? 900 : 300) }))
  const text = textOf(wrapAnswer({ items, next: 'behind all of them', searched: { rows: 400 } }, PAGED))
  expect(text.length).toBeLessThan(50_001)
  const told = JSON.parse(text)
  expect(told).toMatchObject({ next: null, searched: { rows: 400 } })
  expect(told.items).toEqual(items.slice(0, told.items.length))
  expect(told.items.length).toBeGreaterThan(80)
  expect(told.cut).toBe(`${told.items.length} of 400 items are here. Ask with \`limit\` ${told.items.length}.`)
})

test('a large list without pages names no `limit`, which its tool would refuse', () => {
  const items = Array.from({ length: 400 }, (_, id) => ({ id, text: 'x'.repeat(300) }))
  const told = JSON.parse(textOf(wrapAnswer({ items }, WHOLE)))
  expect(told.cut).toBe(
    `${told.items.length} of 400 items are here. No tool lists the others: ask for one by its name.`,
  )
})

test.each([
  ['GET /failures', 'Ask for fewer of them, by `workflow`, `step`, `since`, `until`.'],
  ['GET /files/:storage/snapshot', 'Ask for fewer of them, by `path`.'],
] as const)('a large answer of %s says how to have the others', (route, advice) => {
  const items = Array.from({ length: 400 }, (_, id) => ({ id, text: 'x'.repeat(300) }))
  expect(JSON.parse(textOf(wrapAnswer({ items }, ROUTES[route]))).cut).toContain(advice)
})

test('one item that is too large leaves an empty list, and another large answer its first part', () => {
  const one = JSON.parse(textOf(wrapAnswer({ items: ['x'.repeat(60_000)], next: null }, PAGED)))
  expect(one).toMatchObject({ items: [], cut: '0 of 1 items are here. The first is too large: ask for it by its id.' })
  expect(textOf(wrapAnswer({ value: 'x'.repeat(60_000) }, WHOLE))).toMatch(
    /x\n… cut: 100\d\d more characters\. Ask for a part/,
  )
})

test('a refusal has its code, its faults and the next thing to do', () => {
  expect(wrapRefusal(new UpshotError('forbidden', 'Not you.', { fix: 'Log in.' }))).toEqual({
    content: [{ type: 'text', text: 'forbidden: Not you. Log in.' }],
    isError: true,
  })
  const unknown = toKnown(z.strictObject({}).safeParse({ stauts: 'failed' }).error)
  expect(textOf(wrapRefusal(unknown))).toMatch(/operation\. stauts: is not known\.$/)
  const misfit = toKnown(z.object({ limit: z.int() }).safeParse({ limit: 'x' }).error)
  expect(textOf(wrapRefusal(misfit))).toMatch(
    /^invalid_request: The request does not fit this operation\. limit: .+\.$/,
  )
})
