import { describe, expect, test } from 'vitest'
import type { FilePlace } from '../../../src/core/service/file.ts'
import { entry } from '../support/entries.ts'
import { failure, ok, ScriptedServer, text } from '../support/scripted-server.ts'
import { errorOf, testClient } from '../support/test-client.ts'

const page = (from: number, count: number) => Array.from({ length: count }, (_, index) => entry(String(from + index)))

async function start() {
  const server = await ScriptedServer.start()
  const { files } = testClient({ baseUrl: server.baseUrl })
  const find = (place: Omit<FilePlace, 'service'>) => files.find({ service: 'storage_a', ...place })
  return { server, find, [Symbol.asyncDispose]: () => server[Symbol.asyncDispose]() }
}

describe('a place is looked for', () => {
  test('by its id where one is known', async () => {
    await using rig = await start()
    rig.server.script(ok(entry('a', { owner: 'somebody' })))
    expect(await rig.find({ id: 'a', path: '/elsewhere' })).toEqual({ service: 'storage_a', ...entry('a') })
    expect(rig.server.seen.map(({ path }) => path)).toEqual(['/v1/files/a'])
  })

  test('by its path among the entries of its folder, and no further than it takes', async () => {
    await using rig = await start()
    rig.server.script(ok(page(0, 100)), ok(page(100, 100)))
    expect(await rig.find({ id: null, path: 'in//142.txt' })).toMatchObject({ id: '142' })
    expect(rig.server.seen.map(({ query }) => [query.get('path'), query.get('page')])).toEqual([
      ['/in', '1'],
      ['/in', '2'],
    ])
  })

  test('by its name however its letters are composed', async () => {
    await using rig = await start()
    rig.server.script(ok([entry('a', { path: '/in/a\u0308.txt' })]))
    expect(await rig.find({ path: '/in/\u00e4.txt' })).toMatchObject({ id: 'a' })
  })
})

describe('an absence', () => {
  test.each([
    ['an id that the service does not know', { id: 'x' }, failure(404, 'resource_not_found')],
    ['a folder that the service does not know', { path: '/gone/x.txt' }, failure(404, 'resource_not_found')],
    ['a folder that was read to its end', { path: '/in/x.txt' }, ok(page(0, 3))],
  ])('is proven by %s', async (_name, place, reply) => {
    await using rig = await start()
    rig.server.otherwise(reply)
    expect(await rig.find(place)).toBe(null)
  })

  test.each([
    ['a 404 that is not the service\u2019s own', text(404, '<h1>Not found</h1>'), 'NotFoundError'],
    ['a storage that does not answer', failure(502, 'service_error'), 'UpstreamError'],
    ['a key that may not look', failure(403, 'permission_denied'), 'PermissionError'],
  ])('is not proven by %s', async (_name, reply, name) => {
    await using rig = await start()
    rig.server.otherwise(reply)
    for (const place of [{ id: 'x' }, { path: '/in/x.txt' }])
      expect(await errorOf(rig.find(place))).toMatchObject({ name })
  })
})

test.each([[{}], [{ path: '/' }], [{ path: '/in/../x' }], [{ id: '' }]])(
  'a place that is none is refused before anything is sent: %j',
  async (place) => {
    await using rig = await start()
    expect(await errorOf(rig.find(place))).toMatchObject({ name: 'InvalidRequestError' })
    expect(rig.server.seen).toEqual([])
  },
)
