import { expect, test } from 'vitest'
import { defineWorkflow } from '../../src/author/index.ts'
import type { FileEntry } from '../../src/files/index.ts'
import { crashEverywhere, type Testbed, testbed } from '../../src/testing/index.ts'

/** Deletes every `.bak` below /in at once. */
const sweep = defineWorkflow({
  id: 'sweep',
  on: 'file.created',
  guard: { deletes: { perRun: 2 } },
  async run({ files }) {
    const listing = await files.snapshot({ service: 'storage_a', path: '/in' })
    const doomed = listing.items.filter(({ name }) => name.endsWith('.bak'))
    const { deleted, changed, gone } = await files.deleteAll(doomed, { of: listing })
    return [deleted.length, changed.length, gone.length]
  },
})

async function fill(t: Testbed, count: number): Promise<void> {
  for (let n = 1; n <= count; n++) await t.storage('storage_a').put(`/in/f${n}.bak`, `file ${n}`)
}

const left = async (t: Testbed) =>
  (await t.storage('storage_a').list()).filter(({ path }) => path.endsWith('.bak')).length

test('a list within its limits is deleted, each file as a step', async () => {
  await using t = await testbed({ workflows: [sweep] })
  await fill(t, 2)
  await t.send('file.created')
  expect(t.run(sweep)).toMatchObject({ status: 'completed', output: [2, 0, 0] })
  expect(t.effects().map(({ key }) => key.replace(/\[.*/, ''))).toEqual(['files.delete', 'files.delete'])
})

test('nothing of a list above its limit is deleted before all of it is approved', async () => {
  await using t = await testbed({ workflows: [sweep] })
  await fill(t, 4)
  await t.send('file.created')
  expect(await left(t)).toBe(4)
  const [approval, ...others] = await t.approvals()
  expect(others).toEqual([])
  expect(approval?.items.map(({ asked }) => asked?.path)).toEqual([
    '/in/f1.bak',
    '/in/f2.bak',
    '/in/f3.bak',
    '/in/f4.bak',
  ])
  await t.approve(approval ?? '')
  expect(t.run(sweep)).toMatchObject({ status: 'completed', output: [4, 0, 0] })
})

test('a list of which nobody told the sizes is held whole, and approved whole', async () => {
  const told = defineWorkflow({
    id: 'told',
    on: 'list.told',
    guard: { deletes: { perRun: 2 } },
    run: async ({ files, event }) => (await files.deleteAll(event.data.files as FileEntry[])).deleted.length,
  })
  await using t = await testbed({ workflows: [told] })
  await fill(t, 4)
  const entries = (await t.storage('storage_a').list()).filter(({ type }) => type === 'file')
  const files = entries.map(({ id, path }) => ({ service: 'storage_a', id, path, type: 'file', size: null }))
  await t.send('list.told', { files })
  expect(await left(t)).toBe(4)
  const [approval] = await t.approvals()
  expect(approval?.items.map(({ number }) => number)).toEqual([1, 2, 3, 4])
  await t.approve(approval ?? '')
  expect(t.run(told)).toMatchObject({ status: 'completed', output: 4 })
})

test('the approved part of a list is deleted, and the rest waits', async () => {
  await using t = await testbed({ workflows: [sweep] })
  await fill(t, 4)
  await t.send('file.created')
  const [approval] = await t.approvals()
  await t.approve(approval ?? '', { only: [1, 3] })
  expect(await left(t)).toBe(2)
  expect((await t.approvals()).map(({ items }) => items.length)).toEqual([2])
  expect(t.run(sweep).progress).toMatchObject({ done: 2, total: 4, failed: 0, note: 'files.deleteAll' })
})

test('a file of a list that changed since it was listed stays', async () => {
  await using t = await testbed({ workflows: [sweep] })
  await fill(t, 3)
  await t.send('file.created')
  const [approval] = await t.approvals()
  await t.storage('storage_a').put('/in/f2.bak', 'longer than before')
  await t.approve(approval ?? '')
  expect(t.run(sweep).output).toEqual([2, 1, 0])
})

test('a listing that is not complete is no basis for a share', async () => {
  const hasty = defineWorkflow({
    id: 'hasty',
    on: 'file.created',
    retry: { attempts: 1 },
    async run({ files }) {
      const listing = await files.snapshot({ service: 'storage_a', path: '/in' }, { max: 1 })
      return files.deleteAll(listing.items, { of: listing })
    },
  })
  await using t = await testbed({ workflows: [hasty] })
  await fill(t, 3)
  await t.send('file.created')
  expect(t.run(hasty)).toMatchObject({
    status: 'failed',
    error: { message: expect.stringContaining('not known to be complete') },
  })
  expect(await left(t)).toBe(3)
})

test('a list is deleted once wherever it crashes', async () => {
  const report = await crashEverywhere({ workflows: [sweep] }, async (t) => {
    await fill(t, 3)
    await t.send('file.created')
    const [approval] = await t.approvals()
    const asked = approval?.items.length
    await t.approve(approval ?? '')
    return { asked, left: await left(t), status: t.run(sweep).status }
  })
  expect(report.value).toEqual({ asked: 3, left: 0, status: 'completed' })
})
