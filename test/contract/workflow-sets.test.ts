import { expect } from 'vitest'
import { incoming, NOW } from '../support/fixtures.ts'
import { describeStores } from './describe-stores.ts'

const define = (id: string, type = 'file.created') => ({
  id,
  file: `${id}.workflow.ts`,
  eventTypes: [type],
  schedule: null,
})
const loaded = (worker: string, ...ids: string[]) => ({ workflows: ids.map((id) => define(id)), broken: [], worker })

describeStores((test, open) => {
  test('a worker that lacks workflows of another one at work leaves them, and says which', async () => {
    const { store, reopen } = await open()
    const other = await reopen()
    await store.startWorker('wrk_1', NOW)
    await store.saveWorkflows(loaded('wrk_1', 'a', 'b'), NOW)
    await other.startWorker('wrk_2', NOW)
    expect(await other.saveWorkflows(loaded('wrk_2', 'b', 'c'), NOW)).toEqual({
      removed: [],
      elsewhere: ['a'],
    })
    expect((await store.listWorkflows()).map(({ id }) => id)).toEqual(['a', 'b', 'c'])
  })

  test('a workflow goes with a worker that loads its folder without it, once no other has it', async () => {
    const { store, reopen } = await open()
    const other = await reopen()
    await store.startWorker('wrk_1', NOW)
    await store.saveWorkflows(loaded('wrk_1', 'a', 'b'), NOW)
    await other.startWorker('wrk_2', NOW)
    await other.saveWorkflows(loaded('wrk_2', 'a', 'b'), NOW)
    expect(await other.saveWorkflows(loaded('wrk_2', 'a'), NOW)).toMatchObject({ elsewhere: ['b'] })
    expect(await store.saveWorkflows(loaded('wrk_1', 'a'), NOW)).toMatchObject({ removed: ['b'], elsewhere: [] })
    expect((await store.listWorkflows()).map(({ id }) => id)).toEqual(['a'])
  })

  test('the workflows of a worker that stopped or died stay until a worker loads its folder without them', async () => {
    const { store, reopen } = await open()
    await store.startWorker('wrk_1', NOW)
    await store.saveWorkflows(loaded('wrk_1', 'a'), NOW)
    await store.stopWorker('wrk_1')
    expect(await store.listRoutes()).toHaveLength(1)
    await store.startWorker('wrk_2', NOW)
    expect(await store.saveWorkflows(loaded('wrk_2', 'b'), NOW)).toMatchObject({ removed: ['a'] })
    await store.close()
    const other = await reopen()
    await other.startWorker('wrk_3', NOW)
    expect(await other.saveWorkflows(loaded('wrk_3', 'c'), NOW)).toMatchObject({ removed: ['b'] })
  })

  test('a worker leaves the runs of workflows that only another one has, however many come first', async () => {
    const { store, reopen } = await open()
    const other = await reopen()
    await store.startWorker('wrk_1', NOW)
    await store.saveWorkflows(loaded('wrk_1', 'a', 'b'), NOW)
    await other.startWorker('wrk_2', NOW)
    await other.saveWorkflows(loaded('wrk_2', 'b'), NOW)
    for (let event = 1; event <= 30; event++) await store.saveDelivery(incoming(`evt_${event}`, { workflows: ['a'] }))
    const { runs } = await store.saveDelivery(incoming('evt_last', { workflows: ['b'] }))
    const claimed = await other.claimRuns('wrk_2', 10, NOW)
    expect(claimed.map(({ lease }) => lease.runId)).toEqual(runs)
    const [own] = claimed
    if (own) await other.parkRun(own.lease, { dueAt: NOW, reason: 'nap' })
    const [first] = await store.claimRuns('wrk_1', 1, NOW)
    expect(first?.lease.runId).toEqual(runs[0])
    for (const { lease } of await store.claimRuns('wrk_1', 2, NOW))
      await store.parkRun(lease, { dueAt: NOW, reason: 'nap' })
    expect(await other.claimRuns('wrk_2', 10, NOW)).toEqual([])
    expect(await store.claimRuns('wrk_1', 40, NOW)).toHaveLength(30)
  })

  test('the run that a worker may claim is found behind those of pauses and of other workers', async () => {
    const { store, reopen } = await open()
    const other = await reopen()
    await store.startWorker('wrk_1', NOW)
    await store.saveWorkflows(loaded('wrk_1', 'a', 'paused'), NOW)
    await other.startWorker('wrk_2', NOW)
    await other.saveWorkflows(loaded('wrk_2', 'b', 'paused'), NOW)
    for (const id of ['a', 'paused']) await store.saveDelivery(incoming(`evt_${id}`, { workflows: [id] }))
    await store.pauseWorkflow('paused', NOW)
    expect(await other.findClaimable('wrk_2', NOW)).toBeNull()
    const { runs } = await store.saveDelivery(incoming('evt_b', { workflows: ['b'] }))
    expect(await other.findClaimable('wrk_2', NOW)).toBe(runs[0])
    const [claimed] = await other.claimRuns('wrk_2', 9, NOW)
    expect(await other.findClaimable('wrk_2', NOW)).toBeNull()
    if (claimed) await other.parkRun(claimed.lease, { dueAt: NOW + 1_000, reason: 'nap' })
    expect(await other.findClaimable('wrk_2', NOW)).toBeNull()
    expect(await other.findClaimable('wrk_2', NOW + 1_000)).toBe(runs[0])
  })

  test('the runs of a workflow that no worker at work has are claimed by any', async ({ store, reopen }) => {
    const other = await reopen()
    await store.startWorker('wrk_1', NOW)
    await store.saveWorkflows(loaded('wrk_1', 'a'), NOW)
    await other.startWorker('wrk_2', NOW)
    await other.saveWorkflows(loaded('wrk_2', 'b'), NOW)
    await store.saveDelivery(incoming('evt_1', { workflows: ['a', 'gone'] }))
    expect((await other.claimRuns('wrk_2', 10, NOW)).map(({ workflow }) => workflow)).toEqual(['gone'])
    await store.stopWorker('wrk_1')
    expect((await other.claimRuns('wrk_2', 10, NOW)).map(({ workflow }) => workflow)).toEqual(['a'])
  })

  test('a workflow is removed by hand only while no worker at work has it', async ({ store }) => {
    await store.startWorker('wrk_1', NOW)
    await store.saveWorkflows(loaded('wrk_1', 'a'), NOW)
    await expect(store.removeWorkflow('a', NOW)).rejects.toMatchObject({ code: 'conflict' })
    await store.stopWorker('wrk_1')
    await store.removeWorkflow('a', NOW)
    await new Promise(setImmediate)
    expect(await store.listRoutes()).toEqual([])
    await expect(store.removeWorkflow('a', NOW)).rejects.toMatchObject({ code: 'not_found' })
  })
})
