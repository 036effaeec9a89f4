import { expect, test } from 'vitest'
import { entry } from '../support/entries.ts'
import { ok, ScriptedServer } from '../support/scripted-server.ts'
import { errorOf, testClient } from '../support/test-client.ts'

test.each([
  ['a/b', 'a%2Fb'],
  ['x?y#z', 'x%3Fy%23z'],
  ['Übergröße', '%C3%9Cbergr%C3%B6%C3%9Fe'],
  ['%2f', '%252f'],
  ['...', '...'],
  [' ', '%20'],
  ['a%2e', 'a%252e'],
])('the id %j stays one segment of the path', async (id, segment) => {
  await using server = await ScriptedServer.start()
  server.otherwise(ok(entry(id)))
  const { files } = testClient({ baseUrl: server.baseUrl })
  expect(await files.get({ service: 'storage_a', id })).toMatchObject({ id })
  expect(server.seen[0]?.path).toBe(`/v1/files/${segment}`)
})

test.each(['', '.', '..', '%2e', '%2E%2e', '.%2e', '%2E.', 'a\nb', '\u0000', '\ud800'])(
  'the id %j is refused before anything is sent',
  async (id) => {
    await using server = await ScriptedServer.start()
    const { files } = testClient({ baseUrl: server.baseUrl })
    const ref = { service: 'storage_a', id } as const
    const calls: Promise<unknown>[] = [
      files.get(ref),
      files.downloadUrl(ref),
      files.delete(ref),
      files.stream(ref).next(),
    ]
    for (const call of calls) {
      expect(await errorOf(call)).toMatchObject({ name: 'InvalidRequestError', status: null, retryable: false })
    }
    expect(server.seen).toHaveLength(0)
  },
)

test.each([
  ['', '/'],
  ['in', '/in'],
  ['/in/', '/in'],
  ['//in///x', '/in/x'],
  ['/a\u0308', '/ä'],
  ['/50%', '/50%'],
])('the path %j is sent as %j', async (path, sent) => {
  await using server = await ScriptedServer.start()
  server.otherwise(ok([]))
  await testClient({ baseUrl: server.baseUrl }).files.list({ service: 'storage_a', path })
  expect(server.seen[0]?.query.get('path')).toBe(sent)
})

test.each(['/in/../etc', '..', '/./x', '/%2e%2e/x', '/a\u0007'])('the path %j is refused', async (path) => {
  await using server = await ScriptedServer.start()
  const { files } = testClient({ baseUrl: server.baseUrl })
  expect(await errorOf(files.list({ service: 'storage_a', path }))).toMatchObject({ name: 'InvalidRequestError' })
  expect(server.seen).toHaveLength(0)
})
