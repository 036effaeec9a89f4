import { mkdirSync, readdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect } from 'vitest'
import { tempFolder } from '../../support/temp-folder.ts'
import { call, control } from '../support/call.ts'
import { openReceiver } from '../support/open-receiver.ts'
import { openSandbox, test } from '../support/open-sandbox.ts'

test('restoring a snapshot brings back every file, id, key, fault and the clock', async ({ sandbox }) => {
  const receiver = await openReceiver()
  const storage = sandbox.storage('storage_a')
  const { key } = await sandbox.keys.create({ name: 'kept' })
  await sandbox.webhooks.add({ url: receiver.url })
  await storage.put('/in/kept.txt', 'as it was')
  await sandbox.faults.add({ on: 'files.list', status: 500, times: 2 })
  await call(sandbox, '/files?service=storage_a', { key })
  await sandbox.deliveries.until({ state: 'delivered' })
  const before = { now: sandbox.clock.now(), entries: storage.list().map(({ id, path }) => [id, path]) }
  await sandbox.snapshots.save('before')

  await storage.put('/in/kept.txt', 'changed')
  await storage.put('/new.txt', 'new')
  await sandbox.clock.advance('30d')
  await sandbox.keys.create({ name: 'second' })
  await sandbox.faults.clear()
  sandbox.settings.update({ form: 'alternative' })
  await sandbox.snapshots.restore('before')

  expect(sandbox.clock.now()).toBe(before.now)
  expect(storage.list().map(({ id, path }) => [id, path])).toEqual(before.entries)
  expect((await storage.read('/in/kept.txt')).toString()).toBe('as it was')
  expect(sandbox.keys.list().map(({ name }) => name)).toEqual(['kept'])
  expect(sandbox.events.list()).toHaveLength(1)
  expect((await call(sandbox, '/files?service=storage_a', { key })).status).toBe(500)
  expect((await call(sandbox, '/files?service=storage_a', { key })).body.success).toBe(true)

  writeFileSync(join(storage.dir, 'last.txt'), 'x')
  await sandbox.deliveries.until({ state: 'delivered', count: 2 })
  expect(sandbox.events.list().map(({ type }) => type)).toEqual(['file.created', 'file.created'])
  expect(storage.list().map(({ id, path }) => [id, path])).toEqual(expect.arrayContaining(before.entries))
})

test('a reset clears everything, but never a directory that the sandbox did not make', async () => {
  const storagesDir = tempFolder()
  mkdirSync(join(storagesDir, 'storage_a'))
  writeFileSync(join(storagesDir, 'storage_a', 'precious.txt'), 'precious')
  const sandbox = await openSandbox({ storagesDir })
  const [precious] = sandbox.storage('storage_a').list()
  await sandbox.storage('storage_b').put('/ours.txt', 'ours')
  await sandbox.keys.create({ name: 'gone' })
  await sandbox.faults.add({ on: '*', status: 500 })
  await control(sandbox, 'POST', '/reset')
  expect(readFileSync(join(storagesDir, 'storage_a', 'precious.txt'), 'utf8')).toBe('precious')
  expect(sandbox.storage('storage_a').list()).toEqual([precious])
  expect(sandbox.storage('storage_b').list()).toEqual([])
  expect([sandbox.keys.list(), sandbox.events.list(), sandbox.faults.list()]).toEqual([[], [], []])
  expect(await sandbox.faults.add({ on: '*', status: 500 })).toMatchObject({ id: 'flt_1' })
})

test("a snapshot's name cannot lead out of the folder of snapshots", async ({ sandbox }) => {
  await expect(sandbox.snapshots.save('../outside')).rejects.toThrow()
  await expect(sandbox.snapshots.restore('missing')).rejects.toMatchObject({ code: 'not_found' })
})

test('a snapshot that cannot be saved to its end leaves the one before', async ({ sandbox }) => {
  const storage = sandbox.storage('storage_a')
  await storage.put('/kept.txt', 'bytes')
  await sandbox.snapshots.save('first')
  renameSync(storage.dir, `${storage.dir}-away`)
  await expect(sandbox.snapshots.save('first')).rejects.toThrow('ENOENT')
  expect(sandbox.snapshots.list()).toEqual(['first'])
  renameSync(`${storage.dir}-away`, storage.dir)
  await storage.remove('/kept.txt')
  await sandbox.snapshots.restore('first')
  expect(storage.list()).toMatchObject([{ path: '/kept.txt' }])
})

test('a snapshot that was being replaced at a crash is there at the next start', async () => {
  const dir = tempFolder()
  const before = await openSandbox({ dir })
  await before.storage('storage_a').put('/kept.txt', 'bytes')
  for (let save = 0; save < 2; save++) await before.snapshots.save('first')
  expect(readdirSync(join(dir, 'snapshots'))).toEqual(['first'])
  await before.storage('storage_a').remove('/kept.txt')
  await before.stop()
  // As the crash leaves it, before the new one has its name.
  renameSync(join(dir, 'snapshots/first'), join(dir, 'snapshots/first.old'))
  mkdirSync(join(dir, 'snapshots/first.new'))
  const after = await openSandbox({ dir })
  expect(after.snapshots.list()).toEqual(['first'])
  await after.snapshots.restore('first')
  expect(after.storage('storage_a').list()).toMatchObject([{ path: '/kept.txt' }])
  await after.snapshots.save('first')
  expect(readdirSync(join(dir, 'snapshots'))).toEqual(['first'])
})
