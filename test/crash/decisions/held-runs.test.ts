import { expect, test } from 'vitest'
import { defineWorkflow } from '../../../src/author/index.ts'
import { crashEverywhere, type Testbed } from '../../../src/testing/index.ts'

/** Deletes everything below /in, one file after the other, and needs a person after the first. */
const tidy = defineWorkflow({
  id: 'tidy',
  on: 'file.created',
  retry: { attempts: 1 },
  guard: { deletes: { perRun: 1 } },
  async run({ files }) {
    const { items } = await files.snapshot({ service: 'storage_a', path: '/in' })
    for (const file of items) await files.delete(file)
  },
})

async function start(t: Testbed, files: number): Promise<void> {
  for (let n = 1; n <= files; n++) await t.storage('storage_a').put(`/in/${n}.bak`, `file ${n}`)
  await t.send('file.created')
}

const left = async (t: Testbed) =>
  (await t.storage('storage_a').list()).filter(({ path }) => path.startsWith('/in/')).length

test('a held, approved and stopped run deletes the same files wherever it crashes', async () => {
  const report = await crashEverywhere({ workflows: [tidy] }, async (t) => {
    await start(t, 3)
    const [first] = await t.approvals()
    await t.stopEffects()
    await t.approve(first ?? '')
    await t.resumeEffects()
    const [second] = await t.approvals()
    await t.approve(second ?? '')
    return { left: await left(t), run: t.run(tidy).status }
  })
  expect(report.value).toEqual({ left: 0, run: 'completed' })
})

test('a denial and an expiry end the run, and leave the same files, wherever it crashes', async () => {
  for (const end of ['denied', 'expired']) {
    const report = await crashEverywhere({ workflows: [tidy] }, async (t) => {
      await start(t, 2)
      const [approval] = await t.approvals()
      if (end === 'denied') await t.deny(approval ?? '')
      else await t.advance('8d')
      return { left: await left(t), error: t.run(tidy).error?.code, open: (await t.approvals()).length }
    })
    expect(report.value).toEqual({ left: 1, error: 'denied', open: 0 })
  }
})
