import { expect, test } from 'vitest'
import { entries, entry, snakeEntry } from '../support/entries.ts'
import { json, ok, type Reply, ScriptedServer } from '../support/scripted-server.ts'
import { testClient } from '../support/test-client.ts'

/** Serves a collection by page number. */
function paged(all: () => Record<string, unknown>[], withPagination = true): Reply {
  return (response, request) => {
    const page = Number(request.query.get('page'))
    const limit = Number(request.query.get('limit'))
    const items = all().slice((page - 1) * limit, page * limit)
    const pagination = { page, limit, totalItems: all().length, totalPages: Math.ceil(all().length / limit) }
    ok(items, withPagination ? { pagination } : {})(response, request)
  }
}

async function collect(reply: Reply) {
  await using server = await ScriptedServer.start()
  server.otherwise(reply)
  const { files, lines } = testClient({ baseUrl: server.baseUrl })
  const found: string[] = []
  for await (const file of files.iterate({ service: 'storage_a' })) found.push(file.id)
  return { found, lines, requests: server.seen }
}

test('iterate() reads every page, oldest entries first', async () => {
  const { found, requests } = await collect(paged(() => entries(0, 250)))
  expect(found).toEqual(entries(0, 250).map((one) => one.id))
  expect(requests.map((seen) => seen.query.get('page'))).toEqual(['1', '2', '3'])
  expect(requests.every((seen) => seen.query.get('sort') === 'createdAt')).toBe(true)
})

test('iterate() ends at a page that is not full when there is no pagination', async () => {
  const { found, requests } = await collect(paged(() => entries(0, 230), false))
  expect(found).toHaveLength(230)
  expect(requests).toHaveLength(3)
})

test('iterate() ends after a last full page when there is no pagination', async () => {
  const { found } = await collect(paged(() => entries(0, 200), false))
  expect(found).toHaveLength(200)
})

test('iterate() ends with a warning when the server ignores the page', async () => {
  const { found, requests, lines } = await collect(ok(entries(0, 100)))
  expect(found).toHaveLength(100)
  expect(requests).toHaveLength(2)
  expect(lines).toContainEqual(expect.objectContaining({ kind: 'warning', service: 'storage_a' }))
})

test('iterate() follows page tokens, and ends at a null one', async () => {
  const pages = [
    { files: [snakeEntry('a')], next_page_token: 't1' },
    { files: [snakeEntry('b')], next_page_token: 't2' },
    { files: [], next_page_token: null },
  ]
  let number = 0
  const { found, requests } = await collect((response, request) =>
    json(200, { status: 'success', data: pages[number++] })(response, request),
  )
  expect(found).toEqual(['a', 'b'])
  expect(requests.map((seen) => seen.query.get('page_token'))).toEqual([null, 't1', 't2'])
})

test('iterate() gives each entry once, and those that arrive meanwhile too', async () => {
  let calls = 0
  const { found } = await collect((response, request) => {
    const all = entries(0, calls++ === 0 ? 150 : 210)
    paged(() => [...all.slice(0, 100), entry('7'), ...all.slice(100)])(response, request)
  })
  expect(found).toEqual(entries(0, 210).map((one) => one.id))
})

test('a delete during iterate() logs that pages may skip entries', async () => {
  await using server = await ScriptedServer.start()
  server.otherwise(paged(() => entries(0, 120)))
  const { files, lines } = testClient({ baseUrl: server.baseUrl, dryRun: true })
  for await (const file of files.iterate({ service: 'storage_a' })) {
    if (file.id === '3') await files.delete(file)
  }
  expect(lines).toContainEqual(
    expect.objectContaining({ kind: 'warning', message: expect.stringContaining('snapshot') }),
  )
})

test('a snapshot is complete when every entry fits', async () => {
  await using server = await ScriptedServer.start()
  server.otherwise(paged(() => entries(0, 200)))
  const { files, lines } = testClient({ baseUrl: server.baseUrl, dryRun: true })
  const all = await files.snapshot({ service: 'storage_a' }, { max: 200 })
  expect(all).toMatchObject({ complete: true, items: { length: 200 } })
  for (const file of all.items.slice(0, 2)) await files.delete(file)
  expect(lines.filter((line) => line.kind === 'warning')).toEqual([])
})

test.each([199, 100, 1])('a snapshot that is cut at %d entries says so', async (max) => {
  await using server = await ScriptedServer.start()
  server.otherwise(paged(() => entries(0, 200)))
  const { files } = testClient({ baseUrl: server.baseUrl })
  expect(await files.snapshot({ service: 'storage_a' }, { max })).toMatchObject({
    complete: false,
    items: { length: max },
  })
})

test('pages() gives whole pages', async () => {
  await using server = await ScriptedServer.start()
  server.otherwise(paged(() => entries(0, 101)))
  const { files } = testClient({ baseUrl: server.baseUrl })
  const sizes: number[] = []
  for await (const page of files.pages({ service: 'storage_a' })) sizes.push(page.items.length)
  expect(sizes).toEqual([100, 1])
})
