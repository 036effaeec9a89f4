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

test.each<[Partial<Parameters<typeof createFilesClient>[0]>, RegExp]>([
  [{ timeouts: { connect: Number.NaN } }, /^timeouts\.connect: "NaN" is not a duration/],
  [{ timeouts: { total: '9e15ms' } }, /^timeouts\.total: /],
  [{ retry: { maxWait: Number.POSITIVE_INFINITY } }, /^retry\.maxWait: "Infinity" is not a duration/],
  [{ retry: { attempts: Number.NaN } }, /^retry\.attempts: "NaN" is not a whole number/],
  [{ retry: { quota: Number.NaN } }, /^retry\.quota: "NaN" is not a whole number, 0 or more/],
  [{ burst: 0 }, /^burst: "0" is not a whole number, 1 or more/],
])('a client with %j is refused by the name of the option', (options, message) => {
  expect(() => createFilesClient({ baseUrl: 'https://api.example.com/v1', apiKey: KEY, ...options })).toThrow(message)
})

test.each([
  [{ timeout: Number.NaN }, 'timeout: "NaN"'],
  [{ retry: { min: -1 } }, 'retry.min: "-1"'],
  [{ retry: { attempts: 0.5 } }, 'retry.attempts: "0.5"'],
])('a call with %j is refused before anything is sent', async (limits, message) => {
  await using server = await ScriptedServer.start()
  const { files } = testClient({ baseUrl: server.baseUrl })
  await expect(files.get(REF, limits)).rejects.toThrow(message)
  expect(server.seen).toEqual([])
})
