import { expect } from 'vitest'
import { AbortedError } from '../../../src/files/index.ts'
import { entry, REF } from '../support/entries.ts'
import { ok, test } from '../support/scripted-server.ts'
import { errorOf, testClient } from '../support/test-client.ts'

test('equal reads at the same time are one request', async ({ server }) => {
  server.script(ok(entry('a')))
  const { files } = testClient({ baseUrl: server.baseUrl })
  const [one, two] = await Promise.all([files.get(REF), files.get(REF)])
  expect(one).toEqual(two)
  expect(server.seen).toHaveLength(1)
})

test('a caller that leaves a shared read does not end it for the others', async ({ server }) => {
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
