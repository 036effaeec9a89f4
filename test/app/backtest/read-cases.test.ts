import { expect, test } from 'vitest'
import { z } from 'zod'
import { readCases, readPage } from '../../../src/app/backtest/read-cases.ts'
import { callable, defineWorkflow } from '../../../src/author/index.ts'
import { arrive, askAdmission, batch } from '../../contract/support/ask-admission.ts'
import { claimNext } from '../../contract/support/claim-next.ts'
import { eventBody, incoming, NOW } from '../../support/fixtures.ts'
import { createTestEngine } from '../../support/test-engine.ts'
import { openTestStore } from '../../support/test-store.ts'
import { define } from '../../support/workflows.ts'

test('a batch is previewed once, with its grouping, and a body that retention has taken is told apart', async () => {
  const store = openTestStore()
  for (const id of ['evt_1', 'evt_2', 'evt_3']) {
    await askAdmission(store, await arrive(store, id), { fold: batch })
  }
  const leader = await claimNext(store)
  await store.completeRun(leader.lease, 'null', NOW)
  await arrive(store, 'evt_4')
  const ids = (await store.listRuns({ limit: 9 })).map(({ id }) => id)
  const page = await readPage(store, ids)
  expect(page).toMatchObject({ noBody: 0, notStarted: 2, unfinished: 1 })
  expect(page.cases).toMatchObject([{ run: leader.lease.runId, job: { claim: { folded: 2 } } }])
  await store.prune({ kind: 'payloads', before: NOW + 1e9, limit: 100, after: null })
  expect(await readPage(store, ids)).toMatchObject({ cases: [], noBody: 1, notStarted: 2 })
})

test('of the runs of one type, the newest or a sample are chosen, however many others there are', async () => {
  const store = openTestStore()
  for (let each = 0; each < 9; each++) {
    const id = `evt_${each}`
    const body = eventBody(id, each < 3 ? 'transfer.failed' : 'transfer.completed', {})
    await store.saveDelivery(incoming(id, { body, workflows: ['tidy'] }))
  }
  const choose = async (choice: object) => {
    const pages = await Array.fromAsync(readCases(store, { workflow: 'tidy', since: 0, ...choice }))
    return pages.reduce((runs, { unfinished }) => runs + unfinished, 0)
  }
  expect(await choose({ type: 'transfer.failed' })).toBe(3)
  expect(await choose({ type: 'transfer.failed', limit: 2 })).toBe(2)
  expect(await choose({ type: 'transfer.failed', sample: 2 })).toBe(2)
})

test('a recorded invoke is told by the workflow and the input, not by its run', async () => {
  const child = defineWorkflow({ id: 'child', on: callable(z.object({ n: z.number() })), run: ({ input }) => input.n })
  const parent = define('parent', { on: '*' }, ({ step }) => step.invoke('count', child, { n: 7 }))
  const engine = createTestEngine()
  await engine.start([parent, child])
  const { id } = await engine.run('parent')
  await engine.advance(id, '1m')
  const { cases } = await readPage(engine.store, [id])
  expect(cases[0]?.side.deeds).toMatchObject([{ class: 'invoke', target: 'child', content: '{"n":7}' }])
})
