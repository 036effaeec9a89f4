import { expect, test } from 'vitest'
import { ok, ScriptedServer } from '../support/scripted-server.ts'
import { testClient } from '../support/test-client.ts'

test('downloadUrl() gives the address as a secret, and when it expires', async () => {
  await using server = await ScriptedServer.start()
  const url = 'https://dl.example.com/f?signature=topsecret1234'
  server.script(ok({ downloadUrl: url, expiresAt: '2026-05-01T10:00:00+02:00' }))
  const { files } = testClient({ baseUrl: server.baseUrl })
  const given = await files.downloadUrl({ service: 'storage_a', id: 'a' })
  expect(given.url.reveal()).toBe(url)
  expect(JSON.stringify(given)).not.toContain('topsecret')
  expect(given.expiresAt).toBe(Date.parse('2026-05-01T08:00:00Z'))
})
