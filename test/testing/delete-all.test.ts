import { expect, test } from 'vitest'
import type { FileEntry } from '../../src/files/index.ts'
import { type Testbed, testbed } from '../../src/testing/index.ts'
import { define } from '../support/workflows.ts'

/** Deletes every `.bak` below /in at once. */
const sweep = define('sweep', { on: 'file.created', guard: { deletes: { perRun: 2 } } }, async ({ files }) => {
  const listing = await files.snapshot({ service: 'storage_a', path: '/in' })
  const doomed = listing.items.filter(({ name }) => name.endsWith('.bak'))
  const { deleted, changed, gone } = await files.deleteAll(doomed, { of: listing })
  return [deleted.length, changed.length, gone.length]
})

async function fill(t: Testbed, count: number): Promise<void> {
  for (let n = 1; n <= count; n++) await t.storage('storage_a').put(`/in/f${n}.bak`, `file ${n}`)
}

const left = async (t: Testbed) =>
  (await t.storage('storage_a').list()).filter(({ path }) => path.endsWith('.bak')).length

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
  const told = define(
    'told',
    { on: 'list.told', guard: { deletes: { perRun: 2 } } },
    async ({ files, event }) => (await files.deleteAll(event.data.files as FileEntry[])).deleted.length,
  )
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

test.each([true, false])(
  'what waits after a part was approved names the approval that is open, in memory: %s',
  async (cachePasses) => {
    await using t = await testbed({ workflows: [sweep], cachePasses })
    await fill(t, 4)
    await t.send('file.created')
    const [first] = await t.approvals()
    await t.approve(first ?? '', { only: [1, 3] })
    const [next] = await t.approvals()
    expect(t.run(sweep).reason).toContain(`waits for approval ${next?.id}: `)
    await t.approve(next ?? '')
    expect(t.run(sweep)).toMatchObject({ status: 'completed', output: [4, 0, 0] })
  },
)

test('a run of which nothing was approved names the approval that its files have moved to', async () => {
  const each = define(
    'each',
    { on: 'file.doomed', guard: { deletes: { perRun: 10, perHour: 1 } } },
    async ({ files, event }) => {
      const found = await files.find({ service: 'storage_a', path: String(event.data.path) })
      return found && (await files.delete(found, { expect: found })).outcome
    },
  )
  await using t = await testbed({ workflows: [each] })
  await fill(t, 3)
  for (const n of [1, 2, 3]) await t.send('file.doomed', { path: `/in/f${n}.bak` })
  const [first] = await t.approvals()
  expect(first?.items.length).toBe(2)
  await t.approve(first ?? '', { only: [1] })
  const [next] = await t.approvals()
  expect(t.runs(each).map(({ status }) => status)).toEqual(['completed', 'completed', 'waiting'])
  expect(t.run(each).reason).toContain(`waits for approval ${next?.id}: `)
  await t.approve(next ?? '')
  expect(t.run(each)).toMatchObject({ status: 'completed', output: 'deleted' })
})

test('a listing that is not complete is no basis for a share', async () => {
  const hasty = define('hasty', { on: 'file.created', retry: { attempts: 1 } }, async ({ files }) => {
    const listing = await files.snapshot({ service: 'storage_a', path: '/in' }, { max: 1 })
    return files.deleteAll(listing.items, { of: listing })
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
