import { expect, test } from 'vitest'
import { entry, REF } from '../support/entries.ts'
import { failure, ok, ScriptedServer, text } from '../support/scripted-server.ts'
import { errorOf, testClient } from '../support/test-client.ts'

test('retries stop when the quota is used up, and come back with time', async () => {
  await using server = await ScriptedServer.start()
  server.otherwise(text(500, ''))
  const { files, clock } = testClient({ baseUrl: server.baseUrl, retry: { quota: 10 } })
  await errorOf(files.get(REF))
  expect(server.seen).toHaveLength(3)
  await errorOf(files.get(REF))
  expect(server.seen).toHaveLength(4)
  clock.advance('5s')
  await errorOf(files.get(REF))
  expect(server.seen).toHaveLength(6)
})

test('a 429 costs no quota', async () => {
  const throttled = Array.from({ length: 3 }, () => failure(429, 'rate_limit_exceeded', { 'retry-after': '1' }))
  await using server = await ScriptedServer.start()
  server.script(...throttled).otherwise(ok(entry('a')))
  const { files } = testClient({ baseUrl: server.baseUrl, retry: { quota: 0 } })
  expect(await files.get(REF)).toMatchObject({ id: 'a' })
})
