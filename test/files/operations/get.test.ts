import { expect, test } from 'vitest'
import { ProtocolError } from '../../../src/files/index.ts'
import { entry } from '../support/entries.ts'
import { ok, ScriptedServer } from '../support/scripted-server.ts'
import { errorOf, testClient } from '../support/test-client.ts'

test('get() refuses the details of another entry', async () => {
  await using server = await ScriptedServer.start()
  server.script(ok(entry('b')))
  const { files } = testClient({ baseUrl: server.baseUrl })
  expect(await errorOf(files.get({ service: 'storage_a', id: 'a' }))).toBeInstanceOf(ProtocolError)
})
