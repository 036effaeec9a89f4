import { expect } from 'vitest'
import type { SnapshotOptions } from '../../../../src/files/index.ts'
import { entries, entry, paged, snakeEntry } from '../../support/entries.ts'
import { json, ok, type Reply, ScriptedServer, test } from '../../support/scripted-server.ts'
import { errorOf, testClient } from '../../support/test-client.ts'

async function start(reply: Reply) {
  const server = await ScriptedServer.start()
  server.otherwise(reply)
  const { files } = testClient({ baseUrl: server.baseUrl, dryRun: true })
  const take = (options: SnapshotOptions = {}) => files.snapshot({ service: 'storage_a' }, options)
  const pages = () => server.seen.map(({ query }) => Number(query.get('page')))
  return { server, files, take, pages, [Symbol.asyncDispose]: () => server[Symbol.asyncDispose]() }
}

/** Replies of the alternative form, one after the other; the last one for ever. */
function tokenPages(...pages: { files: unknown[]; next_page_token: unknown }[]): Reply {
  let number = 0
  return (response, request) => {
    const data = pages[Math.min(number++, pages.length - 1)]
    json(200, { status: 'success', data })(response, request)
  }
}

test('a snapshot of several pages that were read once says that nobody verified it', async () => {
  await using bench = await start(paged(() => entries(0, 200)))
  expect(await bench.take({ verify: false })).toMatchObject({ complete: false, reason: 'unverified' })
  expect(bench.pages()).toEqual([1, 2])
})

test.each([199, 100, 1])('a snapshot that is cut at %d entries says so', async (max) => {
  await using bench = await start(paged(() => entries(0, 200)))
  expect(await bench.take({ max })).toMatchObject({ complete: false, reason: 'max', items: { length: max } })
})

test('a snapshot is read again when one entry goes and another comes between two pages', async () => {
  let requests = 0
  const before = entries(0, 200)
  // The total stays 200, and entry 100 moves up to the page that was read already.
  const after = [...entries(0, 5), ...entries(6, 195)]
  await using bench = await start((response, request) =>
    paged(() => (++requests === 1 ? before : after))(response, request),
  )
  const { items, complete } = await bench.take()
  expect(complete).toBe(true)
  expect(items.map(({ id }) => id)).toEqual(after.map(({ id }) => id))
  expect(bench.pages()).toEqual([1, 2, 1, 1, 2, 1, 2])
})

test('a snapshot is read again when its total falls on the way', async () => {
  let requests = 0
  await using bench = await start((response, request) => {
    requests++
    paged(() => (requests === 1 ? entries(0, 200) : entries(1, 199)))(response, request)
  })
  expect(await bench.take()).toMatchObject({ complete: true, items: { length: 199 } })
})

test('a snapshot of a listing that never rests says that it changed', async () => {
  let requests = 0
  await using bench = await start((response, request) => paged(() => entries(requests++, 150))(response, request))
  expect(await bench.take()).toMatchObject({ complete: false, reason: 'changed' })
  expect(bench.pages()).toHaveLength(9)
})

test('a snapshot takes in what arrives while it is read', async () => {
  let requests = 0
  await using bench = await start((response, request) =>
    paged(() => entries(0, requests++ === 0 ? 150 : 210))(response, request),
  )
  expect(await bench.take()).toMatchObject({ complete: true, items: { length: 210 } })
})

test.each([
  ['missing', undefined],
  ['0', 0],
  ['smaller than the total says', 1],
])('a listing whose `totalPages` is %s is read to its total', async (_name, totalPages) => {
  await using bench = await start(paged(() => entries(0, 230), { pagination: { totalPages } }))
  expect(await bench.take()).toMatchObject({ complete: true, items: { length: 230 } })
})

test('a listing whose `totalPages` is 1, without a total, is read to an empty page', async () => {
  const pagination = { totalPages: 1, totalItems: null }
  await using bench = await start(paged(() => entries(0, 100), { pagination }))
  expect(await bench.take()).toMatchObject({ complete: true, items: { length: 100 } })
  expect(bench.pages()).toEqual([1, 2])
})

test.each([
  ['more', 7],
  ['fewer', 3],
])('a service that counts %s entries than it lists is not believed', async (_name, totalItems) => {
  await using bench = await start(paged(() => entries(0, 5), { pagination: { totalItems } }))
  expect(await bench.take()).toMatchObject({ complete: false, reason: 'totals', items: { length: 5 } })
})

test('a service that ignores the page number is not believed', async () => {
  await using bench = await start(ok(entries(0, 100)))
  expect(await bench.take()).toMatchObject({ complete: false, reason: 'repeated', items: { length: 100 } })
})

test('a page token that is a number leads to the next page', async () => {
  await using bench = await start(
    tokenPages(
      { files: [snakeEntry('a')], next_page_token: 2 },
      { files: [snakeEntry('b')], next_page_token: null },
      { files: [snakeEntry('a')], next_page_token: 2 },
      { files: [snakeEntry('b')], next_page_token: null },
    ),
  )
  expect(await bench.take()).toMatchObject({ complete: true, items: { length: 2 } })
  expect(bench.server.seen.map(({ query }) => query.get('page_token'))).toEqual([null, '2', null, '2'])
})

test.each([[true], [2 ** 60], [{ page: 2 }]])('a listing with the page token %j is refused', async (token) => {
  await using bench = await start(tokenPages({ files: [snakeEntry('a')], next_page_token: token }))
  expect(await errorOf(bench.take())).toMatchObject({ name: 'ProtocolError', message: /page token/ })
})

test('empty pages in the middle of a listing are passed over', async () => {
  const pages = [
    { files: [snakeEntry('a')], next_page_token: 't1' },
    { files: [], next_page_token: 't2' },
    { files: [snakeEntry('b')], next_page_token: null },
  ]
  await using bench = await start(tokenPages(...pages, ...pages))
  expect(await bench.take()).toMatchObject({ complete: true, items: { length: 2 } })
})

test('a listing that sends the same page token twice is an error', async () => {
  await using bench = await start(tokenPages({ files: [], next_page_token: 'again' }))
  expect(await errorOf(bench.take())).toMatchObject({ name: 'ProtocolError', operation: 'list', message: /twice/ })
  expect(bench.server.seen).toHaveLength(2)
})

test.each<[string, (number: number) => Reply]>([
  ['empty pages with new tokens', (number) => tokenPages({ files: [], next_page_token: `t${number}` })],
  [
    'known entries with new tokens',
    (number) => tokenPages({ files: [snakeEntry('a')], next_page_token: `t${number}` }),
  ],
  ['empty pages before a far last one', () => ok([], { pagination: { page: 1, totalPages: 1_000_000 } })],
])('a listing of %s without end is an error after 50 pages', async (_name, replyTo) => {
  let number = 0
  await using bench = await start((response, request) => replyTo(number++)(response, request))
  expect(await errorOf(bench.take())).toMatchObject({ name: 'ProtocolError', message: /50 pages/ })
  expect(bench.server.seen.length).toBeLessThanOrEqual(51)
})

test('a snapshot does not depend on a list() that was under way before its second look', async () => {
  let held: (() => void) | null = null
  let requests = 0
  await using bench = await start((response, request) => {
    if (++requests === 1) held = () => paged(() => entries(0, 150))(response, request)
    else paged(() => entries(0, 150))(response, request)
  })
  const slow = bench.files.list({ service: 'storage_a', sort: 'createdAt', page: 1 })
  await bench.server.received(1)
  const taking = bench.take()
  // The first look shares the slow call; the second one may not.
  ;(held as (() => void) | null)?.()
  await slow
  expect(await taking).toMatchObject({ complete: true })
  expect(bench.pages()).toEqual([1, 2, 1, 2])
})

test('an entry without a path lies in the listed folder', async ({ server }) => {
  server.otherwise(ok([entry('a', { path: undefined })]))
  const { files } = testClient({ baseUrl: server.baseUrl })
  expect(await files.find({ service: 'storage_a', path: '/in/a.txt' })).toMatchObject({ id: 'a', path: '/in/a.txt' })
})
