import { expect } from 'vitest'
import { NotFoundError, ProtocolError } from '../../../../src/files/index.ts'
import { entry, snakeEntry } from '../../support/entries.ts'
import { failure, json, ok, ScriptedServer, test, text } from '../../support/scripted-server.ts'
import { errorOf, KEY, testClient } from '../../support/test-client.ts'

test('list() asks as the primary form documents, with the key as bearer', async ({ server }) => {
  server.script(
    ok([entry('a', { path: '/in/ä/deep/a.txt' })], {
      pagination: { page: 2, limit: 50, totalItems: 120, totalPages: 3 },
    }),
  )
  const { files } = testClient({ baseUrl: server.baseUrl, services: { storage_b: 'desk drive' } })

  const page = await files.list({
    service: 'storage_b',
    path: 'in/ä/',
    recursive: true,
    page: 2,
    limit: 50,
    sort: 'name',
  })

  expect(page).toMatchObject({ nextPage: 3, nextToken: null, totalItems: 120 })
  expect(page.items[0]).toMatchObject({ service: 'storage_b', id: 'a', size: 5, mimeType: 'text/plain' })
  const [seen] = server.seen
  expect(seen?.path).toBe('/v1/files')
  expect(Object.fromEntries(seen?.query ?? [])).toEqual({
    service: 'desk drive',
    path: '/in/ä',
    recursive: 'true',
    page: '2',
    limit: '50',
    sort: 'name',
  })
  expect(seen?.headers.authorization).toBe(`Bearer ${KEY}`)
  expect(seen?.headers.accept).toBe('application/json')
})

test('list() never asks for more than 100 entries', async ({ server }) => {
  server.script(ok([]))
  await testClient({ baseUrl: server.baseUrl }).files.list({ service: 'storage_a', limit: 500 })
  expect(server.seen[0]?.query.get('limit')).toBe('100')
})

test('list() reads the alternative form by its shape', async ({ server }) => {
  const folder = snakeEntry('d', { type: 'folder', mime_type: 'inode/directory', size: 0 })
  const empty = snakeEntry('e', { size: 0 })
  server.script(json(200, { status: 'success', data: { files: [folder, empty], next_page_token: 'tok' } }))
  const { files } = testClient({ baseUrl: server.baseUrl })

  const page = await files.list({ service: 'storage_a' })

  expect(page).toMatchObject({ nextPage: 2, nextToken: 'tok' })
  expect(page.items[0]).toMatchObject({ type: 'folder', size: null, mimeType: null })
  expect(page.items[1]).toMatchObject({ size: 0, modifiedAt: '2026-01-02T00:00:00.000Z' })
})

test.each([
  [405, text(405, 'method not allowed')],
  [404, text(404, '<html>no such page</html>')],
])('list() uses the alternative request for good after an unknown route (%d)', async (_status, refusal) => {
  await using server = await ScriptedServer.start()
  server.script(refusal).otherwise(json(200, { status: 'success', data: { files: [], next_page_token: null } }))
  const { files } = testClient({ baseUrl: server.baseUrl, services: { storage_a: 'doc-drive' } })

  await files.list({ service: 'storage_a', path: '/in' })
  await files.list({ service: 'storage_a', path: '/in' })

  expect(server.seen.map((seen) => `${seen.method} ${seen.path}`)).toEqual([
    'GET /v1/files',
    'POST /v1/files/list',
    'POST /v1/files/list',
  ])
  const [, posted] = server.seen
  expect(posted?.headers['content-type']).toBe('application/json')
  expect(JSON.parse(posted?.body ?? '')).toMatchObject({ service: 'doc_drive', path: '/in', recursive: false })
})

test('list() fails as the first form did when neither form is known', async ({ server }) => {
  server.script(text(404, 'first')).otherwise(text(405, 'second'))
  const { files } = testClient({ baseUrl: server.baseUrl })
  expect(await errorOf(files.list({ service: 'storage_a' }))).toMatchObject({ name: 'ProtocolError', status: 404 })
  expect(server.seen).toHaveLength(2)
})

test('list() does not take a missing folder for an unknown route', async ({ server }) => {
  server.script(failure(404, 'resource_not_found'))
  const { files } = testClient({ baseUrl: server.baseUrl })
  expect(await errorOf(files.list({ service: 'storage_a', path: '/gone' }))).toBeInstanceOf(NotFoundError)
  expect(server.seen).toHaveLength(1)
})

test('list() refuses an entry without an id', async ({ server }) => {
  server.script(ok([{ name: 'x' }]))
  const { files } = testClient({ baseUrl: server.baseUrl })
  expect(await errorOf(files.list({ service: 'storage_a' }))).toBeInstanceOf(ProtocolError)
})

test('list() takes data without a flag, with a warning', async ({ server }) => {
  server.script(json(200, { data: [entry('a')] }))
  const { files, lines } = testClient({ baseUrl: server.baseUrl })
  expect((await files.list({ service: 'storage_a' })).items).toHaveLength(1)
  expect(lines.some((line) => line.kind === 'warning')).toBe(true)
})

test.each([
  ['a folder beside it', false, '/other/a.txt'],
  ['the whole storage', true, '/a.txt'],
  ['a folder whose name begins alike', true, '/inbox/a.txt'],
  ['a folder below it', false, '/in/deep/a.txt'],
  ['a path that leaves it again', true, '/in/../a.txt'],
])('list() refuses entries of %s than the one that it asked for', async (_name, recursive, path) => {
  await using server = await ScriptedServer.start()
  server.script(ok([entry('a', { path })]))
  const { files } = testClient({ baseUrl: server.baseUrl })
  const error = await errorOf(files.list({ service: 'storage_a', path: '/in', recursive }))
  expect(error).toMatchObject({ name: 'ProtocolError', message: expect.stringContaining(path) })
})

test('list() takes a path in other letters for the same folder', async ({ server }) => {
  server.script(ok([entry('a', { path: '/In/A\u0308/x.txt' })]))
  const { files } = testClient({ baseUrl: server.baseUrl })
  expect((await files.list({ service: 'storage_a', path: '/in/\u00e4' })).items).toHaveLength(1)
})

test.each([2 ** 53, 1.5, -(2 ** 60)])('list() refuses the id %d, which cannot be read exactly', async (id) => {
  await using server = await ScriptedServer.start()
  server.script(ok([entry('a'), entry('b', { id })]))
  const { files } = testClient({ baseUrl: server.baseUrl })
  expect(await errorOf(files.list({ service: 'storage_a' }))).toMatchObject({ name: 'ProtocolError', message: /2\^53/ })
})
