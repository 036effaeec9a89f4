import { expect, test } from 'vitest'
import type { FilePlace } from '../../../src/core/service/file.ts'
import { entries, entry, paged } from '../support/entries.ts'
import { failure, ok, ScriptedServer, text } from '../support/scripted-server.ts'
import { errorOf, testClient } from '../support/test-client.ts'

async function start() {
  const server = await ScriptedServer.start()
  const { files } = testClient({ baseUrl: server.baseUrl })
  const find = (place: Omit<FilePlace, 'service'>) => files.find({ service: 'storage_a', ...place })
  return { server, find, [Symbol.asyncDispose]: () => server[Symbol.asyncDispose]() }
}

test('find() reads an entry by its id where one is known', async () => {
  await using bench = await start()
  bench.server.script(ok(entry('a', { owner: 'somebody' })))
  expect(await bench.find({ id: 'a', path: '/elsewhere' })).toEqual({ service: 'storage_a', ...entry('a') })
  expect(bench.server.seen.map(({ path }) => path)).toEqual(['/v1/files/a'])
})

test('find() reads every page of a folder, for a second entry may have the path', async () => {
  await using bench = await start()
  bench.server.script(ok(entries(0, 100)), ok(entries(100, 100)), ok([]))
  expect(await bench.find({ id: null, path: 'in//142.txt' })).toMatchObject({ id: '142' })
  expect(bench.server.seen.map(({ query }) => [query.get('path'), query.get('page')])).toEqual([
    ['/in', '1'],
    ['/in', '2'],
    ['/in', '3'],
  ])
})

test.each([
  ['a service that counts more than it lists', ok([entry('a')], { pagination: { totalItems: 2 } }), /totals/],
  ['a service that ignores the page', ok(entries(0, 100)), /repeated/],
  ['a list of another folder', ok([entry('a', { path: '/other/a.txt' })]), /not in it/],
])('find() does not take %s for a proof that there is no entry', async (_name, reply, message) => {
  await using bench = await start()
  bench.server.otherwise(reply)
  expect(await errorOf(bench.find({ path: '/in/x.txt' }))).toMatchObject({ name: 'ProtocolError', message })
})

test('find() looks twice at a folder of several pages before it says that there is no entry', async () => {
  await using bench = await start()
  let requests = 0
  const before = [...entries(0, 100), entry('x')]
  // The entry moves up to the page that was read already, and the total stays.
  const after = [...entries(1, 99), entry('x'), entry('y')]
  bench.server.otherwise((response, request) => paged(() => (requests++ === 0 ? before : after))(response, request))
  expect(await bench.find({ path: '/in/x.txt' })).toMatchObject({ id: 'x' })
})

test('find() takes none of two entries that have the path, and names both', async () => {
  await using bench = await start()
  bench.server.script(ok([entry('a', { path: '/in/x.txt' }), entry('b', { path: '/in/x.txt' })]))
  expect(await errorOf(bench.find({ path: '/in/x.txt' }))).toMatchObject({
    name: 'InvalidRequestError',
    message: expect.stringMatching(/^2 entries have the path \/in\/x\.txt\..*: a, b\.$/),
  })
})

test('find() finds a name however its letters are composed', async () => {
  await using bench = await start()
  bench.server.script(ok([entry('a', { path: '/in/a\u0308.txt' })]))
  expect(await bench.find({ path: '/in/\u00e4.txt' })).toMatchObject({ id: 'a' })
})

test.each([
  ['an id that the service does not know', { id: 'x' }, failure(404, 'resource_not_found')],
  ['a folder that the service does not know', { path: '/gone/x.txt' }, failure(404, 'resource_not_found')],
  ['a folder that was read to its end', { path: '/in/x.txt' }, ok(entries(0, 3))],
])('the absence of an entry is proven by %s', async (_name, place, reply) => {
  await using bench = await start()
  bench.server.otherwise(reply)
  expect(await bench.find(place)).toBe(null)
})

test.each([
  ['a 404 that is not the service\u2019s own', text(404, '<h1>Not found</h1>'), 'ProtocolError'],
  ['a storage that does not answer', failure(502, 'service_error'), 'UpstreamError'],
  ['a key that may not look', failure(403, 'permission_denied'), 'PermissionError'],
])('the absence of an entry is not proven by %s', async (_name, reply, name) => {
  await using bench = await start()
  bench.server.otherwise(reply)
  for (const place of [{ id: 'x' }, { path: '/in/x.txt' }])
    expect(await errorOf(bench.find(place))).toMatchObject({ name })
})

test.each([[{}], [{ path: '/' }], [{ path: '/in/../x' }], [{ id: '' }]])(
  'the place %j names no entry and is refused before anything is sent',
  async (place) => {
    await using bench = await start()
    expect(await errorOf(bench.find(place))).toMatchObject({ name: 'InvalidRequestError' })
    expect(bench.server.seen).toEqual([])
  },
)
