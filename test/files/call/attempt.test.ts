import { describe, expect, test } from 'vitest'
import { AbortedError, StalledError, TimeoutError } from '../../../src/files/index.ts'
import { giveUrls, someBytes } from '../support/download-host.ts'
import { entry } from '../support/entries.ts'
import { ok, ScriptedServer, silence, stall, text } from '../support/scripted-server.ts'
import { errorOf, testClient } from '../support/test-client.ts'

const REF = { service: 'storage_a', id: 'a' } as const

describe('an attempt', () => {
  test('ends when no reply comes in its time, and is followed by another', async () => {
    await using server = await ScriptedServer.start()
    server.script(silence).otherwise(ok(entry('a')))
    const { files, clock } = testClient({ baseUrl: server.baseUrl })
    const details = files.get(REF)
    await server.received(1)
    clock.advance('30s')
    expect(await details).toMatchObject({ id: 'a' })
  })

  test('counts headers and body together', async () => {
    await using server = await ScriptedServer.start()
    server.otherwise(stall({ 'content-type': 'application/json' }, '{"success":'))
    const { files, clock } = testClient({
      baseUrl: server.baseUrl,
      timeouts: { attempt: '10s', stall: '60s' },
      retry: { attempts: 1 },
    })
    const error = errorOf(files.get(REF))
    await server.received(1)
    clock.advance('10s')
    expect(await error).toBeInstanceOf(TimeoutError)
    expect(await error).toMatchObject({ retryable: true, attempts: [{ n: 1, reason: 'TimeoutError' }] })
  })

  test('ends when the headers have come and then nothing more', async () => {
    await using server = await ScriptedServer.start()
    server.otherwise(stall({ 'content-type': 'application/json' }, '{"success":'))
    const { files, clock } = testClient({ baseUrl: server.baseUrl, retry: { attempts: 1 } })
    const error = errorOf(files.get(REF))
    await server.received(1)
    // The timer of the stall begins with the headers, whose arrival cannot be seen from here.
    const stalls = async () => {
      while ((clock.nextAt() ?? Infinity) > clock.now() + 20_000) await new Promise((resolve) => setImmediate(resolve))
    }
    await stalls()
    clock.advance('20s')
    expect(await error).toBeInstanceOf(StalledError)
  })
})

test('the whole call, pauses included, ends in its time', async () => {
  await using server = await ScriptedServer.start()
  server.otherwise(silence)
  const { files, clock } = testClient({ baseUrl: server.baseUrl, timeouts: { attempt: '50s', total: '60s' } })
  const began = clock.now()
  const error = errorOf(files.get(REF))
  await server.received(1)
  clock.advance('50s')
  await server.received(2)
  clock.advance('10s')
  expect(await error).toBeInstanceOf(TimeoutError)
  expect(clock.now() - began).toBe(60_000)
  expect(server.seen).toHaveLength(2)
})

describe('the caller’s signal', () => {
  test('ends a pause at once', async () => {
    await using server = await ScriptedServer.start()
    server.otherwise(text(503, '', { 'retry-after': '50' }))
    const { files, logged } = testClient({ baseUrl: server.baseUrl, skipPauses: false })
    const caller = new AbortController()
    const error = errorOf(files.get(REF, { signal: caller.signal }))
    await logged('wait')
    caller.abort()
    expect(await error).toBeInstanceOf(AbortedError)
    expect(server.seen).toHaveLength(1)
  })

  test('ends a request in flight', async () => {
    await using server = await ScriptedServer.start()
    server.otherwise(silence)
    const { files } = testClient({ baseUrl: server.baseUrl })
    const caller = new AbortController()
    const error = errorOf(files.delete(REF, { signal: caller.signal }))
    await server.received(1)
    caller.abort()
    expect(await error).toMatchObject({ name: 'AbortedError', operation: 'delete' })
  })

  test('lets nothing begin when it has aborted before', async () => {
    await using server = await ScriptedServer.start()
    const { files } = testClient({ baseUrl: server.baseUrl })
    expect(await errorOf(files.get(REF, { signal: AbortSignal.abort() }))).toBeInstanceOf(AbortedError)
    expect(await errorOf(files.delete(REF, { signal: AbortSignal.abort() }))).toBeInstanceOf(AbortedError)
    expect(server.seen).toHaveLength(0)
  })

  test('of one caller leaves a shared read to the other', async () => {
    await using server = await ScriptedServer.start()
    const gate = Promise.withResolvers<void>()
    server.otherwise((response, request) => void gate.promise.then(() => ok(entry('a'))(response, request)))
    const { files } = testClient({ baseUrl: server.baseUrl })
    const caller = new AbortController()
    const leaving = errorOf(files.get(REF, { signal: caller.signal }))
    const staying = files.get(REF)
    await server.received(1)
    caller.abort()
    expect(await leaving).toBeInstanceOf(AbortedError)
    gate.resolve()
    expect(await staying).toMatchObject({ id: 'a' })
    expect(server.seen).toHaveLength(1)
  })
})

describe('stop', () => {
  test('ends what runs and refuses what comes', async () => {
    await using server = await ScriptedServer.start()
    server.otherwise(silence)
    const { files } = testClient({ baseUrl: server.baseUrl })
    const running = errorOf(files.get(REF))
    await server.received(1)
    await Promise.all([files.stop(), files.stop()])
    expect(await running).toBeInstanceOf(AbortedError)
    expect(await errorOf(files.get(REF))).toBeInstanceOf(AbortedError)
    expect(server.seen).toHaveLength(1)
  })
})

describe('a download', () => {
  test('that goes silent ends by its stall, however slow the disk was before', async () => {
    await using api = await ScriptedServer.start()
    await using host = await ScriptedServer.start()
    giveUrls(api, host)
    const bytes = someBytes(1_000)
    host.otherwise(stall({ 'content-length': '2000' }, bytes))
    const { files, clock } = testClient({ baseUrl: api.baseUrl, retry: { attempts: 1 } })
    const chunks = files.stream(REF)
    expect(Buffer.from((await chunks.next()).value ?? [])).toEqual(bytes)
    clock.advance('119s')
    const error = errorOf(chunks.next())
    while (clock.nextAt() === null) await new Promise((resolve) => setImmediate(resolve))
    clock.advance('19s')
    clock.advance('1s')
    expect(await error).toBeInstanceOf(StalledError)
  })
})
