import type { ServerResponse } from 'node:http'
import { expect } from 'vitest'
import { MAX_IN_FLIGHT } from '../../../src/files/call/semaphore.ts'
import { AbortedError } from '../../../src/files/index.ts'
import { entry } from '../support/entries.ts'
import { ok, type Reply, test } from '../support/scripted-server.ts'
import { errorOf, testClient } from '../support/test-client.ts'

/** Holds each reply until it is asked for. */
function holdAll() {
  const held: (() => void)[] = []
  let most = 0
  const hold: Reply = (response: ServerResponse, request) => {
    held.push(() => ok(entry(request.path.split('/').at(-1) ?? ''))(response, request))
    most = Math.max(most, held.length)
  }
  return { hold, most: () => most, release: () => held.shift()?.(), count: () => held.length }
}

const getAll = (files: ReturnType<typeof testClient>['files'], count: number) =>
  Array.from({ length: count }, (_, n) => files.get({ service: 'storage_a', id: `fil_${n}` }))

test('of a thousand calls a bounded number is under way at once, and their wait takes none of their time', async ({
  server,
}) => {
  const { hold, most, release, count } = holdAll()
  server.otherwise(hold)
  const { files, clock } = testClient({ baseUrl: server.baseUrl, timeouts: { attempt: '10m', total: '10s' } })
  const calls = getAll(files, 1_000)
  for (let answered = 0; answered < 1_000; answered++) {
    await server.received(Math.min(1_000, MAX_IN_FLIGHT + answered))
    if (answered % 100 === 0 && answered < 500) clock.advance('4s')
    release()
  }
  expect(await Promise.all(calls)).toHaveLength(1_000)
  expect([most(), count()]).toEqual([MAX_IN_FLIGHT, 0])
})

test('a call of a person, or to another storage, waits behind none, and an aborted one leaves the line', async ({
  server,
}) => {
  const { hold, release } = holdAll()
  server.otherwise(hold)
  const { files } = testClient({ baseUrl: server.baseUrl })
  const first = getAll(files, MAX_IN_FLIGHT)
  await server.received(MAX_IN_FLIGHT)
  const left = new AbortController()
  const aborted = errorOf(files.get({ service: 'storage_a', id: 'fil_left' }, { signal: left.signal }))
  const last = files.get({ service: 'storage_a', id: 'fil_last' })
  const asked = files.get({ service: 'storage_a', id: 'fil_asked' }, { priority: 'interactive' })
  const elsewhere = files.get({ service: 'storage_b', id: 'fil_elsewhere' })
  await server.received(MAX_IN_FLIGHT + 2)
  expect(server.seen.slice(-2).map(({ path }) => path.split('/').at(-1))).toEqual(['fil_asked', 'fil_elsewhere'])
  left.abort()
  expect(await aborted).toBeInstanceOf(AbortedError)
  release()
  await server.received(MAX_IN_FLIGHT + 3)
  expect(server.seen.at(-1)?.path).toContain('fil_last')
  for (let n = 0; n < MAX_IN_FLIGHT + 2; n++) release()
  expect(await Promise.all([...first, last, asked, elsewhere])).toHaveLength(MAX_IN_FLIGHT + 3)
})
