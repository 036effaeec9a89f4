import { expect, test } from 'vitest'
import { crashEverywhere, type Testbed, testbed } from '../src/testing/index.ts'
import workflow from './clean-up.workflow.ts'

/** `old` files that nobody has changed for 40 days, and `fresh` ones of today. */
async function fill(t: Testbed, { old, fresh }: { old: number; fresh: number }): Promise<void> {
  const storage = t.storage('storage_a')
  for (let n = 1; n <= old; n++) await storage.put(`/exports/old-${n}.csv`, `${n}`)
  await t.advance('40d')
  for (let n = 1; n <= fresh; n++) await storage.put(`/exports/fresh-${n}.csv`, `${n}`)
}

const ask = (t: Testbed) => t.send('cleanup.asked', { path: '/exports' })

async function names(t: Testbed): Promise<string[]> {
  const found = await t.storage('storage_a').list('/exports')
  return found.filter(({ path }) => path.endsWith('.csv')).map(({ path }) => path)
}

test('a clean-up deletes the files that nobody has changed for 30 days', async () => {
  await using t = await testbed({ workflows: [workflow] })
  await fill(t, { old: 2, fresh: 20 })
  await ask(t)
  expect(t.run(workflow)).toMatchObject({ status: 'completed', output: { deleted: 2, changed: 0, gone: 0 } })
  expect(await names(t)).toHaveLength(20)
})

test('a clean-up of most of a folder deletes nothing until a person approves the list', async () => {
  await using t = await testbed({ workflows: [workflow] })
  await fill(t, { old: 12, fresh: 2 })
  await ask(t)
  expect(await names(t)).toHaveLength(14)
  const [approval] = await t.approvals()
  expect(approval).toMatchObject({ why: expect.stringContaining('guard of clean-up.deletes.share') })
  expect(approval?.items).toHaveLength(12)
  await t.approve(approval ?? '')
  expect(t.run(workflow)).toMatchObject({ status: 'completed', output: { deleted: 12 } })
  expect(await names(t)).toEqual(['/exports/fresh-1.csv', '/exports/fresh-2.csv'])
})

test('a clean-up deletes the same files wherever it crashes', async () => {
  const report = await crashEverywhere({ workflows: [workflow] }, async (t) => {
    await fill(t, { old: 2, fresh: 20 })
    await ask(t)
    return { status: t.run(workflow).status, left: (await names(t)).length }
  })
  expect(report.value).toEqual({ status: 'completed', left: 20 })
})
