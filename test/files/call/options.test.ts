import { expect, test } from 'vitest'
import { createFilesClient } from '../../../src/files/index.ts'
import { REF } from '../support/entries.ts'
import { ScriptedServer } from '../support/scripted-server.ts'
import { errorOf, KEY, testClient } from '../support/test-client.ts'

test.each([
  'http://api.example.com/v1',
  'http://127.evil.com/v1',
  'https://user:pass@api.example.com/v1',
  'https://api.example.com/v1?key=1',
  'ftp://api.example.com/v1',
  'api.example.com',
])('the base address %s is refused', (baseUrl) => {
  expect(() => createFilesClient({ baseUrl, apiKey: KEY })).toThrow(/base address/)
})

test('a base address without a version causes a warning and gets none', async () => {
  await using server = await ScriptedServer.start()
  const { files, lines } = testClient({ baseUrl: `${server.origin}/` })
  await errorOf(files.get(REF))
  expect(server.seen[0]?.path).toBe('/files/a')
  expect(lines[0]).toMatchObject({ kind: 'warning', message: expect.stringContaining('/v1') })
})
