import { expect } from 'vitest'
import { cron } from '../../src/author/cron.ts'
import type { LoadedWorkflows } from '../../src/core/runs/workflow-record.ts'
import type { Store } from '../../src/core/store/store.ts'
import { incoming, NOW } from '../support/fixtures.ts'
import { describeStores } from './describe-stores.ts'

const define = (id: string, type = 'file.created') => ({
  id,
  file: `${id}.workflow.ts`,
  eventTypes: [type],
  schedule: null,
})
const loaded = (worker: string, ...ids: string[]) => ({ workflows: ids.map((id) => define(id)), broken: [], worker })

type Definition = LoadedWorkflows['workflows'][number]

/** One workflow, as code of before and of after a deployment defines it. */
const OLD: Definition = { ...define('a'), schedule: cron('0 3 * * *'), priority: 1, runTimeoutMs: 1_000 }
const NEW: Definition = {
  ...define('a', 'file.deleted'),
  file: 'b.workflow.ts',
  schedule: cron('0 4 * * *'),
  priority: 2,
}

/** Starts a worker with this definition, like a process. */
async function start(store: Store, worker: string, ...workflows: Definition[]) {
  await store.startWorker(worker, NOW)
  return store.saveWorkflows({ workflows, broken: [], worker }, NOW)
}

/** The question of a worker with the old code. */
function review(store: Store, worker: string, version: number | null, now = NOW) {
  return store.reviewWorkflows({ workflows: [OLD], broken: [], worker }, version, now)
}

async function readDefinition(store: Store): Promise<Definition | undefined> {
  const { loadedAt: _, pausedAt: __, held: ___, ...definition } = (await store.listWorkflows())[0] ?? ({} as never)
  return definition
}

const types = async (store: Store) => (await readDefinition(store))?.eventTypes

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

  test('beside newer code, old code that starts again adds its event types and decides nothing', async ({ store }) => {
    await start(store, 'wrk_1', OLD)
    await start(store, 'wrk_2', NEW)
    const both = { ...NEW, eventTypes: ['file.created', 'file.deleted'] }
    expect(await readDefinition(store)).toEqual(both)
    const line = await store.listDueSchedules(NOW, { limit: 9 })
    await store.stopWorker('wrk_1')
    await start(store, 'wrk_3', OLD)
    expect(await readDefinition(store)).toEqual(both)
    expect(await store.listDueSchedules(NOW, { limit: 9 })).toEqual(line)
  })

  test('code is as old as its first start, after which every worker may have stopped', async ({ store }) => {
    await start(store, 'wrk_1', OLD)
    await store.stopWorker('wrk_1')
    await start(store, 'wrk_2', NEW)
    expect(await readDefinition(store)).toEqual(NEW)
    await store.stopWorker('wrk_2')
    await start(store, 'wrk_3', NEW)
    await start(store, 'wrk_4', OLD)
    expect(await readDefinition(store)).toMatchObject({ file: NEW.file, schedule: NEW.schedule, priority: 2 })
  })

  test('a worker alone decides as it starts and as it loads again, with older code, too', async ({ store }) => {
    await start(store, 'wrk_1', OLD)
    for (const edit of [NEW, OLD]) {
      await store.saveWorkflows({ workflows: [edit], broken: [], worker: 'wrk_1' }, NOW)
      expect(await readDefinition(store)).toEqual(edit)
    }
    await store.stopWorker('wrk_1')
    for (const [worker, code] of [
      ['wrk_2', NEW],
      ['wrk_3', OLD],
    ] as const) {
      await start(store, worker, code)
      expect(await readDefinition(store)).toEqual(code)
      await store.stopWorker(worker)
    }
  })

  test('of definitions that no worker has, the latest five keep their age', async ({ store }) => {
    const versions = [1, 2, 3, 4, 5, 6, 7].map((priority) => ({ ...OLD, priority }))
    for (const version of versions) {
      await start(store, 'wrk_1', version)
      await store.stopWorker('wrk_1')
    }
    await start(store, 'wrk_2', ...versions.slice(6))
    await start(store, 'wrk_3', ...versions.slice(2, 3))
    expect(await readDefinition(store)).toMatchObject({ priority: 7 })
    await start(store, 'wrk_4', ...versions.slice(1, 2))
    expect(await readDefinition(store)).toMatchObject({ priority: 2 })
  })

  test('a worker whose module is broken stands for what its definition was', async ({ store }) => {
    await start(store, 'wrk_1', OLD)
    await start(store, 'wrk_2', NEW)
    await store.stopWorker('wrk_2')
    await store.startWorker('wrk_3', NOW)
    await store.saveWorkflows({ workflows: [], broken: [NEW.file], worker: 'wrk_3' }, NOW)
    await store.stopWorker('wrk_1')
    await start(store, 'wrk_4', OLD)
    const both = { ...NEW, eventTypes: ['file.created', 'file.deleted'] }
    expect(await readDefinition(store)).toEqual(both)
    expect(await review(store, 'wrk_4', null)).toBeNull()
    await start(store, 'wrk_5', { ...NEW, priority: 3 })
    expect(await readDefinition(store)).toEqual({ ...both, priority: 3 })
  })

  test('old code that outlives the new decides in a review, once the rows stayed as they were', async ({ store }) => {
    await start(store, 'wrk_1', OLD)
    await start(store, 'wrk_2', NEW, define('only-new'))
    expect(await review(store, 'wrk_1', null)).toBeNull()
    await store.stopWorker('wrk_2')
    const version = await review(store, 'wrk_1', null)
    expect(version).not.toBeNull()
    expect(await review(store, 'wrk_1', (version ?? 0) - 1)).toBe(version)
    expect(await types(store)).toEqual(['file.created', 'file.deleted'])

    const before = await store.listWorkflows()
    expect(await review(store, 'wrk_1', version, NOW + 1)).toBeNull()
    expect(await readDefinition(store)).toEqual(OLD)
    const after = await store.listWorkflows()
    expect(after.map(({ id, loadedAt }) => [id, loadedAt])).toEqual(before.map(({ id, loadedAt }) => [id, loadedAt]))
    expect(await review(store, 'wrk_1', version)).toBeNull()
  })

  test('a worker that comes back before a review has its say as before', async ({ store }) => {
    await start(store, 'wrk_1', OLD)
    await start(store, 'wrk_2', NEW)
    await store.stopWorker('wrk_2')
    const version = await review(store, 'wrk_1', null)
    await start(store, 'wrk_3', NEW)
    expect(await review(store, 'wrk_1', version)).toBeNull()
    expect(await types(store)).toEqual(['file.created', 'file.deleted'])
  })

  test('a worker that was taken for dead has its workflows again with its next review', async ({ store, reopen }) => {
    const other = await reopen()
    await start(store, 'wrk_1', OLD, define('own'))
    await start(other, 'wrk_2', OLD)
    await other.endWorker('wrk_1')
    expect(await start(other, 'wrk_2', OLD)).toMatchObject({ removed: ['own'] })
    await store.startWorker('wrk_1', NOW)
    await store.saveDelivery(incoming('evt_1', { workflows: ['a'] }))
    expect(await store.claimRuns('wrk_1', 9, NOW)).toEqual([])
    const loaded = { workflows: [OLD, define('own')], broken: [], worker: 'wrk_1' }
    expect(await store.reviewWorkflows(loaded, null, NOW)).toBeNull()
    expect(await store.claimRuns('wrk_1', 9, NOW)).toHaveLength(1)
    expect((await store.listWorkflows()).map(({ id }) => id)).toEqual(['a', 'own'])
  })

  test('a worker that was taken for dead takes nothing away while others are taken for dead, too', async ({
    store,
  }) => {
    await start(store, 'wrk_1', OLD)
    await start(store, 'wrk_2', NEW)
    for (const worker of ['wrk_1', 'wrk_2']) await store.endWorker(worker)
    await store.startWorker('wrk_1', NOW)
    expect(await review(store, 'wrk_1', null)).toBeNull()
    expect(await readDefinition(store)).toEqual({ ...NEW, eventTypes: ['file.created', 'file.deleted'] })
  })
})
