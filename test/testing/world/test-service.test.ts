import { expect, test } from 'vitest'
import { defineWorkflow } from '../../../src/author/index.ts'
import { testbed } from '../../../src/testing/index.ts'
import { define } from '../../support/workflows.ts'

const clean = define('clean', { on: 'folder.ready' }, async ({ files, step }) => {
  const { items } = await files.snapshot({ service: 'storage_b', path: '/archive', recursive: true })
  for (const item of items.filter(({ name }) => name.endsWith('.bak'))) await files.delete(item, { expect: item })
  await step.run('tell', () => 'told')
  return items.length
})

test('a workflow finds the files that a test puts into a storage', async () => {
  await using t = await testbed({ workflows: [clean] })
  const storage = t.storage('storage_b')
  const a = await storage.put('/archive/a.bak', 'x')
  await storage.put('/archive/b.txt', 'y')
  await storage.put('/archived/c.bak', 'z')
  await t.send('folder.ready')
  expect(t.run(clean)).toMatchObject({ status: 'completed', output: 2 })
  expect(t.effects()).toMatchObject([
    { workflow: 'clean', effect: 'delete', target: `storage_b:${a.id}`, output: { outcome: 'deleted' } },
    { workflow: 'clean', effect: 'write', key: 'tell' },
  ])
  expect((await storage.list('/archive')).map(({ path }) => path)).toEqual(['/archive/b.txt'])
  expect((await storage.get('/archived/c.bak')).toString()).toBe('z')
  await storage.remove('/archived/c.bak')
  await expect(storage.get('/archived/c.bak')).rejects.toThrow('There is no file')
})

test("the sandbox keeps the testbed's time, and its events can be sent", async () => {
  const echo = defineWorkflow({ id: 'echo', on: 'file.created', run: ({ event }) => event.created })
  await using t = await testbed({ workflows: [echo], now: '2026-05-01T00:00:00Z' })
  expect(() => t.emitted('file.created')).toThrow('The sandbox has emitted no file.created')
  await t.storage('storage_a').put('/early.txt', '')
  await t.advance('90m')
  await t.storage('storage_a').put('/late.txt', '')
  await t.send(t.emitted('file.created'))
  expect(t.run(echo).output).toBe('2026-05-01T01:30:00.000Z')
})

test('pauses within a call pass by themselves, and move every clock', async () => {
  await using t = await testbed({ workflows: [clean] })
  await t.storage('storage_b').put('/archive/a.bak', 'x')
  await t.faults.add({ on: 'files.list', status: 503, times: 2 })
  await t.send('folder.ready')
  expect(t.run(clean).status).toBe('completed')
  expect(t.now()).toBeGreaterThan(Date.parse('2026-01-01T00:00:00Z'))
  expect((await t.sandbox()).clock.now()).toBe(t.now())
  await t.faults.clear()
  await t.storage('storage_b').put('/archive/b.bak', 'x')
  const before = t.now()
  await t.send('folder.ready')
  expect(t.now()).toBe(before)
})

test('time stands still while one call pauses and another is open', async () => {
  const both = define('both', { on: 'go' }, async ({ event, files }) => {
    const file = { service: 'storage_a' as const, id: String(event.data.id) }
    await Promise.all([files.get(file), files.list({ service: 'storage_a' })])
  })
  await using t = await testbed({ workflows: [both] })
  const { id } = await t.storage('storage_a').put('/slow.txt', '')
  await t.faults.add({ on: 'files.get', latencyMs: 300, times: 1 })
  await t.faults.add({ on: 'files.list', status: 503, times: 1 })
  const before = t.now()
  const got = t.notices.once('step.completed', ({ step }) => step.startsWith('files.get')).then(() => t.now())
  await t.send('go', { id })
  expect(await got).toBe(before)
  expect(t.now()).toBeGreaterThan(before)
})
