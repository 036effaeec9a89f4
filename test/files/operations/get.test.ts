import { expect, test } from 'vitest'
import { ProtocolError } from '../../../src/files/index.ts'
import { entry } from '../support/entries.ts'
import { ok, ScriptedServer } from '../support/scripted-server.ts'
import { errorOf, testClient } from '../support/test-client.ts'

test('get() gives the details, with null for a field that was not sent', async () => {
  await using server = await ScriptedServer.start()
  server.script(ok(entry('a', { owner: 'o@example.com', shared: true, createdAt: 'yesterday' })))
  const { files } = testClient({ baseUrl: server.baseUrl })
  const details = await files.get({ service: 'storage_a', id: 'a' })
  expect(details).toMatchObject({ owner: 'o@example.com', shared: true, webViewLink: null, createdAt: null })
})

test('get() refuses the details of another entry', async () => {
  await using server = await ScriptedServer.start()
  server.script(ok(entry('b')))
  const { files } = testClient({ baseUrl: server.baseUrl })
  expect(await errorOf(files.get({ service: 'storage_a', id: 'a' }))).toBeInstanceOf(ProtocolError)
})
