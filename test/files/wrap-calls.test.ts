import { join } from 'node:path'
import { expect } from 'vitest'
import type { FileCall, WrapCall } from '../../src/core/service/files-api.ts'
import { wrapCalls } from '../../src/files/wrap-calls.ts'
import { tempFolder } from '../support/temp-folder.ts'
import { giveUrls, serveBytes, someBytes } from './support/download-host.ts'
import { entries, entry } from './support/entries.ts'
import { ok, ScriptedServer, test } from './support/scripted-server.ts'
import { testClient } from './support/test-client.ts'

/** A client whose calls pass through `wrap`. */
function openWrapped({ baseUrl }: Pick<ScriptedServer, 'baseUrl'>, wrap: WrapCall) {
  const { files } = testClient({ baseUrl })
  return wrapCalls(
    () => files,
    wrap,
    () => {},
  )
}

/** Passes every call on, and remembers it. */
function recorder() {
  const calls: FileCall[] = []
  const results: unknown[] = []
  const wrap: WrapCall = async (call, perform) => {
    calls.push(call)
    const result = await perform({ signal: new AbortController().signal })
    results.push(result)
    return result
  }
  return { calls, results, wrap }
}

test('each page of a listing is a call of its own, whose second look keeps no entry', async ({ server }) => {
  server.script(ok(entries(0, 100)), ok(entries(100, 1)), ok(entries(0, 100)), ok(entries(100, 1)))
  const { calls, results, wrap } = recorder()
  const files = openWrapped(server, wrap)
  expect(await files.snapshot({ service: 'storage_a', path: '/in' })).toMatchObject({
    items: { length: 101 },
    complete: true,
  })
  expect(calls.map((call) => `${call.operation} ${call.target}`)).toEqual([
    'list storage_a:/in',
    'list storage_a:/in?page=2',
    'list storage_a:/in',
    'list storage_a:/in?page=2',
  ])
  expect(results.slice(2).map((result) => JSON.stringify(result).length)).toEqual([91, 91])
})

test('a delete has an effect of its own, and a download URL is not kept', async ({ server }) => {
  const folder = tempFolder()
  const { calls, wrap } = recorder()
  const files = openWrapped(server, wrap)
  const ref = { service: 'storage_a', id: 'x' } as const

  server.script(ok(entry('x')))
  await files.get(ref)
  giveUrls(server, server)
  await files.downloadUrl(ref)
  server.script(ok({ downloadUrl: `${server.origin}/bytes` }), serveBytes(someBytes(10)))
  await files.download({ ...ref, size: 10 }, { to: join(folder, 'x') })
  server.script(ok(entry('x')), ok({ message: 'gone' }))
  await files.delete(ref)

  expect(calls).toEqual([
    { operation: 'get', effect: 'read', target: 'storage_a:x', keep: true, limits: {} },
    { operation: 'downloadUrl', effect: 'read', target: 'storage_a:x', keep: false, limits: {} },
    { operation: 'download', effect: 'read', target: 'storage_a:x', keep: true, limits: {} },
    {
      operation: 'delete',
      effect: 'delete',
      target: 'storage_a:x',
      keep: true,
      limits: {},
      facts: {
        asked: expect.objectContaining({ path: entry('x').path }),
        expect: null,
        listedAbove: expect.any(Function),
        isFolderAllowed: false,
        look: expect.any(Function),
      },
    },
  ])
})

test('find() is one call however many pages it reads, and hash() keeps no bytes', async ({ server }) => {
  const { calls, wrap } = recorder()
  const files = openWrapped(server, wrap)
  server.script(ok(entries(0, 100)), ok(entries(100, 1)))
  expect(await files.find({ service: 'storage_a', path: '/in/100.txt' })).toMatchObject({ id: '100' })
  server.script(ok({ downloadUrl: `${server.origin}/bytes` }), serveBytes(someBytes(10)))
  expect(await files.hash({ service: 'storage_a', id: 'x', size: 10 })).toMatchObject({ bytes: 10 })
  expect(calls).toEqual([
    { operation: 'find', effect: 'read', target: 'storage_a:/in/100.txt', keep: true, limits: {} },
    { operation: 'hash', effect: 'read', target: 'storage_a:x', keep: true, limits: {} },
  ])
})

test('a delete tells what its look found, with the hash where the run has read that very version', async () => {
  await using server = await ScriptedServer.start()
  const found: unknown[] = []
  const permit = { expect: null, isRepeated: false, onSeen: (before: unknown) => void found.push(before) }
  const calls: FileCall[] = []
  const files = openWrapped(server, (call, perform) => {
    calls.push(call)
    return perform({ signal: new AbortController().signal, permit })
  })
  const ref = { service: 'storage_a', id: 'x' } as const
  const modifiedAt = '2026-01-02T00:00:00.000Z'
  server.script(ok({ downloadUrl: `${server.origin}/bytes` }), serveBytes(someBytes(5)))
  const hash = await files.hash({ ...ref, size: 5, modifiedAt })
  for (const later of [{}, { modifiedAt: '2026-01-03T00:00:00.000Z' }, { size: 6 }]) {
    server.script(ok(entry('x', later)), ok({ message: 'gone' }))
    await files.delete(ref, { expect: { path: '/in/x.txt', size: null } })
  }
  const state = { path: '/in/x.txt', bytes: 5, modifiedAt }
  expect(found).toEqual([
    { ...state, sha256: hash?.sha256 },
    { ...state, modifiedAt: '2026-01-03T00:00:00.000Z', sha256: null },
    { ...state, bytes: 6, sha256: null },
  ])
  expect(calls.at(-1)?.facts?.expect).toEqual({ path: '/in/x.txt', bytes: null, modifiedAt: null })
})

test('retry and timeout of a call come with each of its calls', async ({ server }) => {
  const { calls, wrap } = recorder()
  const files = openWrapped(server, wrap)
  const limits = { retry: { attempts: 9 }, timeout: '1h' } as const
  const ref = { service: 'storage_a', id: 'x' } as const
  server.otherwise(ok([entry('x')]))
  await files.list(ref, limits)
  await files.snapshot(ref, { ...limits, max: 5 })
  for await (const _entry of files.iterate(ref, limits)) break
  server.otherwise(ok(entry('x')))
  await files.get(ref, limits)
  await files.find(ref, limits)
  await files.delete(ref, { ...limits, expect: { size: 5 } })
  expect(calls.map(({ limits }) => limits)).toEqual(Array(6).fill(limits))
})
