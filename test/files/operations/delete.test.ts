import { describe, expect, test } from 'vitest'
import type { DeleteRequest, FilesClientOptions } from '../../../src/files/index.ts'
import { entry } from '../support/entries.ts'
import { failure, json, ok, type Reply, reset, ScriptedServer, text } from '../support/scripted-server.ts'
import { testClient } from '../support/test-client.ts'

const REF = { service: 'storage_a', id: 'a' } as const
const DELETED = ok({ message: 'gone for good' })
const MISSING = failure(404, 'resource_not_found')
const SAME = { path: '/in/a.txt', size: 5, modifiedAt: '2026-01-02T00:00:00.000Z' }

async function deleteWith(replies: Reply[], options: DeleteRequest = {}, client: Partial<FilesClientOptions> = {}) {
  await using server = await ScriptedServer.start()
  server.script(...replies)
  const { files, pauses } = testClient({ baseUrl: server.baseUrl, ...client })
  const result = await files.delete(REF, options).catch((error: unknown) => error)
  return { result, pauses, requests: server.seen.map((seen) => seen.method).join(' ') }
}

describe('delete', () => {
  test.each<[string, Reply]>([
    ['a message', DELETED],
    ['the other form', json(200, { status: 'success', data: { message: 'ok' } })],
    ['an empty 204', (response) => response.writeHead(204).end()],
    ['an empty 200', text(200, '')],
  ])('takes %s for success', async (_name, reply) => {
    const { result, requests } = await deleteWith([reply])
    expect(result).toEqual({ outcome: 'deleted', proof: 'reply' })
    expect(requests).toBe('DELETE')
  })

  test('does not take a first 404 for proof', async () => {
    expect((await deleteWith([MISSING])).result).toEqual({ outcome: 'not_found', proof: 'none' })
  })

  test('throws a first 404 when asked to', async () => {
    expect((await deleteWith([MISSING], { ifMissing: 'throw' })).result).toMatchObject({ name: 'NotFoundError' })
  })

  test('does not take a 404 of somebody else for an outcome', async () => {
    const { result } = await deleteWith([text(404, '<html>no such page</html>')])
    expect(result).toMatchObject({ name: 'NotFoundError', code: null })
  })

  test('is sent again after a 429, which was surely not carried out', async () => {
    const { result, requests, pauses } = await deleteWith([
      failure(429, 'rate_limit_exceeded', { 'retry-after': '3' }),
      MISSING,
    ])
    expect(result).toEqual({ outcome: 'not_found', proof: 'none' })
    expect(requests).toBe('DELETE DELETE')
    expect(pauses).toEqual([3_000])
  })
})

describe('after a fault that leaves open what happened', () => {
  const faults: [string, Reply][] = [
    ['a broken connection', reset],
    ['a 500', text(500, '')],
    ['a 502 page', text(502, '<html>')],
    ['a success that says nothing', json(200, { done: 1 })],
    ['an unreadable success', text(200, '{"success":tr')],
    ['a 503 of the service', failure(503, 'service_error')],
  ]

  test.each(faults)('looks first, and finds it gone (%s)', async (_name, fault) => {
    const { result, requests } = await deleteWith([fault, MISSING])
    expect(result).toEqual({ outcome: 'already_gone', proof: 'verified' })
    expect(requests).toBe('DELETE GET')
  })

  test.each(faults)('looks first, and deletes what is still there (%s)', async (_name, fault) => {
    const { result, requests } = await deleteWith([fault, ok(entry('a')), DELETED])
    expect(result).toEqual({ outcome: 'deleted', proof: 'reply' })
    expect(requests).toBe('DELETE GET DELETE')
  })

  test('leaves alone what has changed meanwhile', async () => {
    const replies = [ok(entry('a')), reset, ok(entry('a', { modifiedAt: '2026-01-03T00:00:00.000Z' }))]
    const { result, requests } = await deleteWith(replies, { expect: SAME })
    expect(result).toEqual({ outcome: 'changed', proof: 'verified' })
    expect(requests).toBe('GET DELETE GET')
  })

  test('knows that it was seen when the second delete finds nothing', async () => {
    const { result } = await deleteWith([reset, ok(entry('a')), MISSING])
    expect(result).toEqual({ outcome: 'already_gone', proof: 'verified' })
  })

  test('does not believe a 404 that is not the service’s', async () => {
    const { result } = await deleteWith([reset, text(404, '<html>')])
    expect(result).toMatchObject({ name: 'ConnectionError', operation: 'delete', retryable: true })
  })

  test('gives the fault back when it cannot look', async () => {
    const { result, requests } = await deleteWith([reset], {}, { retry: { attempts: 2 } })
    expect(result).toMatchObject({ name: 'ConnectionError', operation: 'delete' })
    expect(requests).toBe('DELETE GET GET')
  })

  test('does not look before the moment that the server named', async () => {
    const { pauses } = await deleteWith([text(503, '', { 'retry-after': '20' }), MISSING])
    expect(pauses).toEqual([20_000])
  })

  test('fails at once with that moment when it is too far away', async () => {
    const { result, requests } = await deleteWith([text(503, '', { 'retry-after': '600' })])
    expect(result).toMatchObject({ name: 'ServerError', retryAt: expect.any(Number) })
    expect(requests).toBe('DELETE')
  })

  test('tries no more often than any other call', async () => {
    const there = ok(entry('a'))
    const { result, requests } = await deleteWith([reset, there, reset, there, reset], {}, { retry: { attempts: 3 } })
    expect(result).toMatchObject({ name: 'ConnectionError' })
    expect(requests).toBe('DELETE GET DELETE GET DELETE')
  })
})

test('a delete that times out after the service did it is found out', async () => {
  await using server = await ScriptedServer.start()
  server.script(() => {}, MISSING)
  const { files, clock } = testClient({ baseUrl: server.baseUrl })
  const outcome = files.delete(REF)
  await server.received(1)
  clock.advance('30s')
  expect(await outcome).toEqual({ outcome: 'already_gone', proof: 'verified' })
})

describe('with an expectation', () => {
  test('deletes an entry that still looks like that', async () => {
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
    ['lost date', { modifiedAt: null }],
    ['path, for it was moved', { path: '/kept/a.txt' }],
  ])('leaves alone an entry with another %s', async (_name, difference) => {
    const { result, requests } = await deleteWith([ok(entry('a', difference))], { expect: SAME })
    expect(result).toEqual({ outcome: 'changed', proof: 'verified' })
    expect(requests).toBe('GET')
  })

  test('says that there is none', async () => {
    const { result, requests } = await deleteWith([MISSING], { expect: SAME })
    expect(result).toEqual({ outcome: 'not_found', proof: 'none' })
    expect(requests).toBe('GET')
  })
})

test('a folder is deleted only when that is allowed', async () => {
  await using server = await ScriptedServer.start()
  server.otherwise(DELETED)
  const { files } = testClient({ baseUrl: server.baseUrl })
  const folder = { ...REF, type: 'folder' } as const
  await expect(files.delete(folder)).rejects.toThrow(/allowFolder/)
  expect(server.seen).toHaveLength(0)
  expect(await files.delete(folder, { allowFolder: true })).toMatchObject({ outcome: 'deleted' })
})

test('a folder that is found out to be one is left alone', async () => {
  const { result, requests } = await deleteWith([reset, ok(entry('a', { type: 'folder' }))])
  expect(result).toMatchObject({ name: 'InvalidRequestError' })
  expect(requests).toBe('DELETE GET')
})

test('a dry run sends nothing', async () => {
  const { result, requests } = await deleteWith([], { expect: SAME }, { dryRun: true })
  expect(result).toEqual({ outcome: 'dry_run', proof: 'none' })
  expect(requests).toBe('')
})
