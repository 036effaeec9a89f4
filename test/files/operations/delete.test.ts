import { expect, vi } from 'vitest'
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
  ['a 404 of the service', MISSING],
]

const NOT_UTF8: Reply = (response) => response.end(Buffer.from('{"success":true,"data":"\xff"}', 'latin1'))
const SEE_OTHER: Reply = (response) => response.writeHead(303, { location: '/v1/files' }).end()

/** Replies that no other attempt could read, and that may follow a delete as well. */
const FINAL: [string, Reply][] = [
  ['a success that is not UTF-8', NOT_UTF8],
  ['a redirect', SEE_OTHER],
  ['a proxy’s 404', text(404, '<html>no such page</html>')],
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

const NO_CONTENT: Reply = (response) => response.writeHead(204).end()
const LATER = text(202, '')
const PROMISE = json(202, { success: true, data: { message: 'later' } })
/** Replies to three looks. */
const GOES = [THERE, THERE, MISSING]
const LOOKS = 'GET DELETE GET GET GET'
const OTHER = ok(entry('a', { size: 9 }))
const TOUCHED = ok(entry('a', { modifiedAt: '2026-01-03T00:00:00.000Z' }))
const SAME_MOMENT = ok(entry('a', { modifiedAt: '2026-01-02T01:00:00+01:00' }))
const THROTTLED = failure(429, 'rate_limit_exceeded', { 'retry-after': '3' })
const LONG_WAIT = text(503, '', { 'retry-after': '600' })
const NO_PAGE = text(404, '<html>no such page</html>')
const BROKEN = { name: 'ConnectionError', operation: 'delete' }
const BROKEN_LOOK = { name: 'ConnectionError', retryable: true }
const DENIED = { name: 'ProtocolError', retryable: true, message: /had just shown/ }
const ONCE = { retry: { attempts: 1 } }
const UNKNOWN = ['route_not_found', 'storage_not_found', 'connection_not_found', 'unknown_account']
const known = { expect: SAME }

/** Replies, the outcome and its proof or the error, requests, and what is asked for. */
type Case = [name: string, Reply[], string | object, string, DeleteRequest?, Partial<FilesClientOptions>?]

const CASES: Case[] = [
  ['a message', [THERE, DELETED], 'deleted, reply', 'GET DELETE'],
  ['a message in the other form', [THERE, json(200, { status: 'success', data: {} })], 'deleted, reply', 'GET DELETE'],
  ['an empty 204', [THERE, NO_CONTENT], 'deleted, reply', 'GET DELETE'],
  ['an empty 200, until nothing is there', [THERE, text(200, ''), ...GOES], 'deleted, verified', LOOKS],
  ['an empty 202, until nothing is there', [THERE, LATER, ...GOES], 'deleted, verified', LOOKS],
  ['a 202 in words, until nothing is there', [THERE, PROMISE, ...GOES], 'deleted, verified', LOOKS],
  ['a 202, and a file that was replaced', [THERE, LATER, OTHER], 'changed, verified', 'GET DELETE GET'],
  [
    'a 202, and an entry that stays',
    [THERE, LATER, THERE, THERE, THERE],
    { name: 'ServerError', retryable: true, message: /still there/ },
    LOOKS,
    {},
    { retry: { attempts: 3 } },
  ],
  ['a first 404, which proves no deletion', [MISSING], 'not_found, none', 'GET'],
  ['a first 404 that is to be thrown', [MISSING], { name: 'NotFoundError' }, 'GET', { ifMissing: 'throw' }],
  ['a 404 after a call that may have deleted it', [MISSING], 'already_gone, verified', 'GET', { mayBeGone: true }],
  ['what an earlier call has not deleted', [THERE, DELETED], 'deleted, reply', 'GET DELETE', { mayBeGone: true }],
  ['a proxy’s 404', [NO_PAGE], { name: 'ProtocolError', code: null }, 'GET'],
  ...UNKNOWN.map((code): Case => [`a ${code}`, [failure(404, code)], { name: 'NotFoundError', code }, 'GET']),
  ...FAULTS.flatMap(([fault, reply]): Case[] => [
    [`${fault}, and nothing there`, [THERE, reply, MISSING], 'already_gone, verified', 'GET DELETE GET'],
    [`${fault}, and the entry there`, [THERE, reply, THERE, DELETED], 'deleted, reply', 'GET DELETE GET DELETE'],
  ]),
  ...FINAL.flatMap(([fault, reply]): Case[] => [
    [`${fault}, and nothing there`, [THERE, reply, MISSING], 'already_gone, verified', 'GET DELETE GET'],
    [`${fault}, and another entry`, [THERE, reply, OTHER], 'changed, verified', 'GET DELETE GET'],
    [`${fault}, and the entry there`, [THERE, reply, THERE], { name: 'ProtocolError' }, 'GET DELETE GET'],
    [`${fault}, and a look that broke`, [THERE, reply, reset], BROKEN_LOOK, 'GET DELETE GET', {}, ONCE],
  ]),
  ['a 404 each time, and the entry there', [THERE, MISSING, THERE], DENIED, 'GET DELETE GET', {}, ONCE],
  ['a 404, and a look that broke', [THERE, MISSING, reset], DENIED, 'GET DELETE GET', {}, ONCE],
  [
    'a last try that broke, and nothing there',
    [THERE, reset, THERE, reset, MISSING],
    'already_gone, verified',
    'GET DELETE GET DELETE GET',
    {},
    { retry: { attempts: 2 } },
  ],
  ['a cut, and another entry than expected', [THERE, reset, TOUCHED], 'changed, verified', 'GET DELETE GET', known],
  ['a cut, and another entry than it saw', [THERE, reset, OTHER], 'changed, verified', 'GET DELETE GET'],
  [
    'a cut, and nothing at the second try',
    [THERE, reset, THERE, MISSING, MISSING],
    'already_gone, verified',
    'GET DELETE GET DELETE GET',
  ],
  ['a cut, and a proxy’s 404', [THERE, reset, NO_PAGE], { ...BROKEN, retryable: true }, 'GET DELETE GET'],
  ['a cut, and no entry to read', [THERE, reset], BROKEN, 'GET DELETE GET GET', {}, { retry: { attempts: 2 } }],
  ['a moment too far away', [THERE, LONG_WAIT], { name: 'ServerError', retryAt: expect.any(Number) }, 'GET DELETE'],
  ['an entry as expected', [SAME_MOMENT, DELETED], 'deleted, reply', 'GET DELETE', known],
  ['no entry where one was expected', [MISSING], 'not_found, none', 'GET', known],
  ['a dry run', [], 'dry_run, none', '', known, { dryRun: true }],
]

test.each(CASES)('delete() and %s', async (_name, replies, says, asks, options, client) => {
  const { result, requests } = await deleteWith(replies, options, client)
  if (typeof says !== 'string') expect(result).toMatchObject(says)
  else expect(Object.values(result as object).join(', ')).toBe(says)
  expect(requests).toBe(asks)
})

test.each([
  ['as it was', [THERE, DELETED], { outcome: 'deleted', proof: 'reply' }, 'GET DELETE GET DELETE'],
  ['changed', [OTHER], { outcome: 'changed', proof: 'verified' }, 'GET DELETE GET'],
  ['gone', [MISSING], { outcome: 'already_gone', proof: 'verified' }, 'GET DELETE GET'],
])('delete() after the pause of a 429 looks again, and finds the entry %s', async (_name, replies, outcome, asks) => {
  const { result, requests, pauses } = await deleteWith([THERE, THROTTLED, ...replies])
  expect(result).toEqual(outcome)
  expect(requests).toBe(asks)
  expect(pauses).toEqual([3_000])
})

test('delete() whose last try gets a 429 fails with it, without another look', async () => {
  const { result, requests } = await deleteWith([THERE, THROTTLED], {}, { retry: { attempts: 1 } })
  expect(result).toMatchObject({ name: 'RateLimitError' })
  expect(requests).toBe('GET DELETE')
})

test('delete() reads the entry no earlier than the server allows', async () => {
  const { pauses } = await deleteWith([THERE, text(503, '', { 'retry-after': '20' }), MISSING])
  expect(pauses).toEqual([20_000])
})

test('P7: delete() that times out after the service did it finds the entry gone', async ({ server }) => {
  server.script(THERE, () => {}, MISSING)
  const { files, clock } = testClient({ baseUrl: server.baseUrl })
  const outcome = files.delete(REF)
  await server.received(2)
  clock.advance('30s')
  expect(await outcome).toEqual({ outcome: 'already_gone', proof: 'verified' })
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

test('a delete goes before the looks of other calls, which wait for the limit as well', async () => {
  await using server = await ScriptedServer.start()
  server.otherwise((response, seen) => {
    const reply = seen.method === 'GET' ? ok(entry(seen.path.endsWith('/a') ? 'a' : 'b')) : DELETED
    reply(response, seen)
  })
  const options = { plan: 1, retry: { maxWait: '10m' }, skipPauses: false } as const
  const { files, clock, lines } = testClient({ baseUrl: server.baseUrl, ...options })
  const deletes = Promise.allSettled(['a', 'b'].map((id) => files.delete({ ...REF, id })))
  const waits = () => lines.flatMap((line) => (line.kind === 'wait' ? [line.until] : []))
  await server.received(1)
  // The look at b waits, and then the delete of a.
  await vi.waitFor(() => expect(waits().length).toBeGreaterThan(1))
  clock.set(waits().at(-1) ?? 0)
  await server.received(2)
  expect(server.seen.map(({ method, path }) => `${method} ${path.at(-1)}`)).toEqual(['GET a', 'DELETE a'])
  await files.stop()
  await deletes
})

test('each delete follows its look at once, however many looks wait for the limit', async ({ server }) => {
  server.otherwise((response, seen) => {
    const reply = seen.method === 'GET' ? ok(entry(seen.path.at(-1) ?? '')) : DELETED
    reply(response, seen)
  })
  const { files, clock } = testClient({ baseUrl: server.baseUrl, plan: 4, retry: { maxWait: '2m' }, skipPauses: false })
  const deletes = ['a', 'b', 'c', 'd'].map((id) => files.delete({ ...REF, id }))
  await Promise.all(deletes.slice(0, 2))
  expect(server.seen).toHaveLength(4)
  clock.advance('61s')
  const outcomes = await Promise.all(deletes)
  expect(outcomes).toEqual(Array(4).fill({ outcome: 'deleted', proof: 'reply' }))
})

test.each([
  ['as it was', [THERE, DELETED], { outcome: 'deleted', proof: 'reply' }, 'GET GET DELETE'],
  ['changed', [OTHER], { outcome: 'changed', proof: 'verified' }, 'GET GET'],
  ['gone', [MISSING], { outcome: 'already_gone', proof: 'verified' }, 'GET GET'],
])(
  'delete() of a process that froze after its look looks again, and finds the entry %s',
  async (_name, replies, outcome, asks) => {
    await using server = await ScriptedServer.start()
    server.script(THERE, ...replies)
    const { files, clock } = testClient({ baseUrl: server.baseUrl })
    const beforeSend = async () => clock.advance('4s')
    expect(await files.delete(REF, { beforeSend })).toEqual(outcome)
    expect(server.seen.map((seen) => seen.method).join(' ')).toBe(asks)
  },
)

test('a delete that is refused before it is sent opens no key that a 429 has closed', async ({ server }) => {
  const look = Promise.withResolvers<void>()
  const slow: Reply = (response, seen) => void look.promise.then(() => THERE(response, seen))
  server.script(slow, THROTTLED)
  const { files, clock } = testClient({ baseUrl: server.baseUrl, skipPauses: false, retry: { attempts: 1 } })
  const beforeSend = () => Promise.reject(new Error('stopped'))
  const deleting = files.delete(REF, { beforeSend }).catch(String)
  await server.received(1)
  await expect(files.get({ ...REF, id: 'b' })).rejects.toMatchObject({ name: 'RateLimitError' })
  look.resolve()
  await vi.waitFor(() => expect(clock.nextAt()).toBe(clock.now() + 3_000))
  clock.advance('3s')
  expect(await deleting).toContain('stopped')
  server.script(() => {})
  const reads = ['c', 'd'].map((id) => files.get({ ...REF, id }).catch(String))
  await server.received(3)
  await new Promise(setImmediate)
  expect(server.seen).toHaveLength(3)
  await files.stop()
  await Promise.all(reads)
})
