import { expect, test } from 'vitest'
import { entries, entry, paged, snakeEntry } from '../../support/entries.ts'
import { json, ok, type Reply, ScriptedServer } from '../../support/scripted-server.ts'
import { testClient } from '../../support/test-client.ts'

async function collect(reply: Reply) {
  await using server = await ScriptedServer.start()
  server.otherwise(reply)
  const { files, lines } = testClient({ baseUrl: server.baseUrl })
  const found: string[] = []
  for await (const file of files.iterate({ service: 'storage_a' })) found.push(file.id)
  return { found, lines, requests: server.seen }
}

test.each([
  ['a page shorter than the service’s own 20', 219, 3],
  ['an empty page after one that may be full', 230, 4],
  ['an empty page after one that is full', 200, 3],
])('iterate() ends at %s when there is no pagination', async (_name, count, pages) => {
  const { found, requests } = await collect(paged(() => entries(0, count), { pagination: false }))
  expect(found).toHaveLength(count)
  expect(requests).toHaveLength(pages)
})

test('iterate() reads on where the service sends shorter pages than it was asked for', async () => {
  const { found, requests } = await collect(paged(() => entries(0, 65), { pagination: false, perPage: 50 }))
  expect(found).toHaveLength(65)
  expect(requests).toHaveLength(2)
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
