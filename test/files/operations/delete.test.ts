import { expect } from 'vitest'
import type { DeleteRequest, FilesClientOptions } from '../../../src/files/index.ts'
import { entry, REF } from '../support/entries.ts'
import { failure, json, ok, type Reply, reset, ScriptedServer, test, text } from '../support/scripted-server.ts'
import { testClient } from '../support/test-client.ts'

const DELETED = ok({ message: 'gone for good' })
const MISSING = failure(404, 'resource_not_found')
const SAME = { path: '/in/a.txt', size: 5, modifiedAt: '2026-01-02T00:00:00.000Z' }

/** Replies that leave open whether the service deleted the entry. */
const FAULTS: [string, Reply][] = [
  ['a broken connection', reset],
  ['a 500', text(500, '')],
  ['a 502 page', text(502, '<html>')],
  ['a success that says nothing', json(200, { done: 1 })],
  ['an unreadable success', text(200, '{"success":tr')],
  ['a 503 of the service', failure(503, 'service_error')],
]

/** The reply to the look before a delete. */
const THERE = ok(entry('a'))

async function deleteWith(replies: Reply[], options: DeleteRequest = {}, client: Partial<FilesClientOptions> = {}) {
  await using server = await ScriptedServer.start()
  server.script(...replies)
  const { files, pauses } = testClient({ baseUrl: server.baseUrl, ...client })
  const result = await files.delete(REF, options).catch((error: unknown) => error)
  return { result, pauses, requests: server.seen.map((seen) => seen.method).join(' ') }
}

test.each<[string, Reply]>([
  ['a message', DELETED],
  ['the other form', json(200, { status: 'success', data: { message: 'ok' } })],
  ['an empty 204', (response) => response.writeHead(204).end()],
])('delete() takes %s for success', async (_name, reply) => {
  const { result, requests } = await deleteWith([THERE, reply])
  expect(result).toEqual({ outcome: 'deleted', proof: 'reply' })
  expect(requests).toBe('GET DELETE')
})

test.each<[string, Reply]>([
  ['an empty 200', text(200, '')],
  ['a 202', json(202, { success: true, data: { message: 'later' } })],
  ['an empty 202', text(202, '')],
])('delete() looks after %s until the entry is gone', async (_name, reply) => {
  const { result, requests } = await deleteWith([THERE, reply, THERE, THERE, MISSING])
  expect(result).toEqual({ outcome: 'deleted', proof: 'verified' })
  expect(requests).toBe('GET DELETE GET GET GET')
})

test('delete() does not call an entry deleted that stays after a 202, and looks only so often', async () => {
  const { result, requests } = await deleteWith(
    [THERE, text(202, ''), ...Array(9).fill(THERE)],
    {},
    { retry: { attempts: 3 } },
  )
  expect(result).toMatchObject({ name: 'ServerError', retryable: true, message: /still there/ })
  expect(requests).toBe('GET DELETE GET GET GET')
})

test('delete() leaves a file alone that was replaced after a 202', async () => {
  const other = ok(entry('a', { size: 9 }))
  const { result } = await deleteWith([THERE, text(202, ''), other])
  expect(result).toEqual({ outcome: 'changed', proof: 'verified' })
})

test('delete() does not take a first 404 for proof of a deletion', async () => {
  expect((await deleteWith([MISSING])).result).toEqual({ outcome: 'not_found', proof: 'none' })
})

test('delete() throws a first 404 when `ifMissing` is `throw`', async () => {
  expect((await deleteWith([MISSING], { ifMissing: 'throw' })).result).toMatchObject({ name: 'NotFoundError' })
})

test('delete() does not take a proxy’s 404 for an outcome', async () => {
  const { result } = await deleteWith([text(404, '<html>no such page</html>')])
  expect(result).toMatchObject({ name: 'NotFoundError', code: null })
})

test('delete() is sent again after a 429, which proves that nothing was deleted', async () => {
  const { result, requests, pauses } = await deleteWith([
    THERE,
    failure(429, 'rate_limit_exceeded', { 'retry-after': '3' }),
    MISSING,
  ])
  expect(result).toEqual({ outcome: 'already_gone', proof: 'verified' })
  expect(requests).toBe('GET DELETE DELETE')
  expect(pauses).toEqual([3_000])
})

test.each(FAULTS)('delete() reads the entry after %s, and finds it gone', async (_name, fault) => {
  const { result, requests } = await deleteWith([THERE, fault, MISSING])
  expect(result).toEqual({ outcome: 'already_gone', proof: 'verified' })
  expect(requests).toBe('GET DELETE GET')
})

test.each(FAULTS)('delete() reads the entry after %s, and deletes it when it is still there', async (_name, fault) => {
  const { result, requests } = await deleteWith([THERE, fault, THERE, DELETED])
  expect(result).toEqual({ outcome: 'deleted', proof: 'reply' })
  expect(requests).toBe('GET DELETE GET DELETE')
})

test('delete() leaves an entry that changed after a broken connection', async () => {
  const replies = [ok(entry('a')), reset, ok(entry('a', { modifiedAt: '2026-01-03T00:00:00.000Z' }))]
  const { result, requests } = await deleteWith(replies, { expect: SAME })
  expect(result).toEqual({ outcome: 'changed', proof: 'verified' })
  expect(requests).toBe('GET DELETE GET')
})

test('delete() knows that it saw the entry when its second request finds nothing', async () => {
  const { result } = await deleteWith([THERE, reset, THERE, MISSING])
  expect(result).toEqual({ outcome: 'already_gone', proof: 'verified' })
})

test('delete() does not believe a proxy’s 404 after a broken connection', async () => {
  const { result } = await deleteWith([THERE, reset, text(404, '<html>')])
  expect(result).toMatchObject({ name: 'ConnectionError', operation: 'delete', retryable: true })
})

test('delete() fails with the first failure when it cannot read the entry afterwards', async () => {
  const { result, requests } = await deleteWith([THERE, reset], {}, { retry: { attempts: 2 } })
  expect(result).toMatchObject({ name: 'ConnectionError', operation: 'delete' })
  expect(requests).toBe('GET DELETE GET GET')
})

test('delete() reads the entry no earlier than the server allows', async () => {
  const { pauses } = await deleteWith([THERE, text(503, '', { 'retry-after': '20' }), MISSING])
  expect(pauses).toEqual([20_000])
})

test('delete() fails at once with the server’s moment when that is too far away', async () => {
  const { result, requests } = await deleteWith([THERE, text(503, '', { 'retry-after': '600' })])
  expect(result).toMatchObject({ name: 'ServerError', retryAt: expect.any(Number) })
  expect(requests).toBe('GET DELETE')
})

test('P7: delete() that times out after the service did it finds the entry gone', async ({ server }) => {
  server.script(THERE, () => {}, MISSING)
  const { files, clock } = testClient({ baseUrl: server.baseUrl })
  const outcome = files.delete(REF)
  await server.received(2)
  clock.advance('30s')
  expect(await outcome).toEqual({ outcome: 'already_gone', proof: 'verified' })
})

test('delete() with an expectation deletes an entry that still looks like it', async () => {
  const { result, requests } = await deleteWith(
    [ok(entry('a', { modifiedAt: '2026-01-02T01:00:00+01:00' })), DELETED],
    {
      expect: SAME,
    },
  )
  expect(result).toEqual({ outcome: 'deleted', proof: 'reply' })
  expect(requests).toBe('GET DELETE')
})

test.each([
  ['size', { size: 6 }],
  ['date', { modifiedAt: '2026-01-02T00:00:01.000Z' }],
  ['date, for it was lost', { modifiedAt: null }],
  ['path, for it was moved', { path: '/kept/a.txt' }],
])('P8: delete() with an expectation leaves an entry with another %s', async (_name, difference) => {
  const { result, requests } = await deleteWith([ok(entry('a', difference))], { expect: SAME })
  expect(result).toEqual({ outcome: 'changed', proof: 'verified' })
  expect(requests).toBe('GET')
})

test('delete() with an expectation says when there is no entry', async () => {
  const { result, requests } = await deleteWith([MISSING], { expect: SAME })
  expect(result).toEqual({ outcome: 'not_found', proof: 'none' })
  expect(requests).toBe('GET')
})

test('a folder is deleted only with `allowFolder`', async ({ server }) => {
  server.script(ok(entry('a', { type: 'folder' }))).otherwise(DELETED)
  const { files } = testClient({ baseUrl: server.baseUrl })
  const folder = { ...REF, type: 'folder' } as const
  await expect(files.delete(folder)).rejects.toThrow(/allowFolder/)
  expect(server.seen).toHaveLength(0)
  expect(await files.delete(folder, { allowFolder: true })).toMatchObject({ outcome: 'deleted' })
})

test.each([
  ['a folder', { type: 'folder' }],
  ['a directory', { type: 'Directory' }],
  ['a folder by its media type', { type: 'file', mimeType: 'application/vnd.example.folder' }],
  ['nothing that is known', { type: 'shortcut' }],
  ['nothing at all', { type: undefined }],
])('delete() by an id alone leaves an entry that the service calls %s', async (_name, said) => {
  const { result, requests } = await deleteWith([ok(entry('a', said))])
  expect(result).toMatchObject({ name: 'InvalidRequestError', message: /allowFolder/ })
  expect(requests).toBe('GET')
  const allowed = await deleteWith([ok(entry('a', said)), DELETED], { allowFolder: true })
  expect(allowed.result).toEqual({ outcome: 'deleted', proof: 'reply' })
})

test('delete() by an id alone leaves an entry that changed between its look and a broken connection', async () => {
  const { result, requests } = await deleteWith([THERE, reset, ok(entry('a', { size: 6 }))])
  expect(result).toEqual({ outcome: 'changed', proof: 'verified' })
  expect(requests).toBe('GET DELETE GET')
})

test('delete() of what an earlier call may have deleted says that it is already gone', async () => {
  expect((await deleteWith([MISSING], { mayBeGone: true })).result).toEqual({
    outcome: 'already_gone',
    proof: 'verified',
  })
  expect((await deleteWith([THERE, DELETED], { mayBeGone: true })).result).toMatchObject({ outcome: 'deleted' })
})

test.each(['route_not_found', 'storage_not_found', 'connection_not_found', 'unknown_account'])(
  'the code %s does not prove that an entry is gone',
  async (code) => {
    const { result } = await deleteWith([failure(404, code)])
    expect(result).toMatchObject({ name: 'NotFoundError', code })
  },
)

test.each([
  ['allowed', [MISSING], true],
  ['refused', [failure(403, 'permission_denied')], false],
])('canDelete() tells when deletes are %s, without an entry', async (_name, replies, expected) => {
  await using server = await ScriptedServer.start()
  server.script(...replies)
  const { files } = testClient({ baseUrl: server.baseUrl })
  expect(await files.canDelete('storage_a')).toBe(expected)
  expect(server.seen.map(({ method }) => method)).toEqual(['DELETE'])
  expect(server.seen[0]?.path).toMatch(/upshot-probe-[0-9a-f-]{36}$/)
})

test('a look asks caches on the way for the entry as it is now', async ({ server }) => {
  server.script(THERE)
  await testClient({ baseUrl: server.baseUrl }).files.get(REF)
  expect(server.seen[0]?.headers['cache-control']).toBe('no-cache')
})

test('a dry run sends nothing', async () => {
  const { result, requests } = await deleteWith([], { expect: SAME }, { dryRun: true })
  expect(result).toEqual({ outcome: 'dry_run', proof: 'none' })
  expect(requests).toBe('')
})
