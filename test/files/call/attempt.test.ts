import { setImmediate as turn } from 'node:timers/promises'
import { expect } from 'vitest'
import { type LimiterStore, memoryLimiterStore, StalledError, TimeoutError } from '../../../src/files/index.ts'
import { entry, REF } from '../support/entries.ts'
import { ok, silence, stall, test } from '../support/scripted-server.ts'
import { errorOf, testClient } from '../support/test-client.ts'

test('an attempt without a reply in its time ends, and another one follows', async ({ server }) => {
  server.script(silence).otherwise(ok(entry('a')))
  const { files, clock } = testClient({ baseUrl: server.baseUrl })
  const details = files.get(REF)
  await server.received(1)
  clock.advance('30s')
  expect(await details).toMatchObject({ id: 'a' })
})

test('the time of an attempt covers headers and body together', async ({ server }) => {
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

test('an attempt whose body goes silent after the headers ends by its stall', async ({ server }) => {
  server.otherwise(stall({ 'content-type': 'application/json' }, '{"success":'))
  const { files, clock } = testClient({ baseUrl: server.baseUrl, retry: { attempts: 1 } })
  const error = errorOf(files.get(REF))
  await server.received(1)
  // The timer of the stall begins with the headers, whose arrival cannot be seen from here.
  const stalls = async () => {
    while ((clock.nextAt() ?? Infinity) > clock.now() + 20_000) await turn()
  }
  await stalls()
  clock.advance('20s')
  expect(await error).toBeInstanceOf(StalledError)
})

test('a reply whose word about the limit cannot be kept is still given', async ({ server }) => {
  server.otherwise(ok(entry('a'), {}, { 'x-ratelimit-limit': '120' }))
  const memory = memoryLimiterStore()
  const save: LimiterStore['save'] = (key, state, version) =>
    state.limit === null ? memory.save(key, state, version) : Promise.reject(new Error('the database is away'))
  const { files, lines } = testClient({ baseUrl: server.baseUrl, plan: 'free', limiter: { ...memory, save } })
  expect(await files.get(REF)).toMatchObject({ id: 'a' })
  expect(lines.filter(({ kind }) => kind === 'warning')).toMatchObject([
    { message: 'The limit that a reply told of could not be kept: the database is away' },
  ])
})
