import { expect, test } from 'vitest'
import type { StorageName } from '../../../src/files/index.ts'
import { entry } from '../support/entries.ts'
import { ok, ScriptedServer } from '../support/scripted-server.ts'
import { errorOf, testClient } from '../support/test-client.ts'

const SERVICES = { storage_a: 'doc-drive', storage_b: { wire: 'desk drive', alternative: 'deskdrive_2' } }

test.each([
  ['storage_a', 'storage_a', 'doc-drive'],
  ['doc-drive', 'storage_a', 'doc-drive'],
  ['Doc_Drive', 'storage_a', 'doc-drive'],
  ['DESK-DRIVE', 'storage_b', 'desk drive'],
  ['deskdrive_2', 'storage_b', 'desk drive'],
  ['storage-c', 'storage_c', 'storage_c'],
])('the storage name %s means %s and is sent as %s', async (given, known, sent) => {
  await using server = await ScriptedServer.start()
  server.otherwise(ok(entry('x')))
  const { files } = testClient({ baseUrl: server.baseUrl, services: SERVICES })
  expect(await files.get({ service: given as StorageName, id: 'x' })).toMatchObject({ service: known })
  expect(server.seen[0]?.query.get('service')).toBe(sent)
})

test('an unknown storage name is refused before anything is sent', async () => {
  await using server = await ScriptedServer.start()
  const { files } = testClient({ baseUrl: server.baseUrl, services: SERVICES })
  const ref = { service: 'tape' as StorageName, id: 'x' }
  const calls: Promise<unknown>[] = [
    files.get(ref),
    files.list(ref),
    files.snapshot(ref),
    files.delete(ref),
    files.downloadUrl(ref),
    files.download(ref, { to: '/nowhere' }),
    files.stream(ref).next(),
  ]
  for (const call of calls) expect(await errorOf(call)).toMatchObject({ name: 'InvalidRequestError', service: null })
  expect(server.seen).toHaveLength(0)
})
