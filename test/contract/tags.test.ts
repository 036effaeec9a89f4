import { expect } from 'vitest'
import type { Tags } from '../../src/core/runs/annotations/tags.ts'
import type { RunFilter } from '../../src/core/runs/run.ts'
import type { Store } from '../../src/core/store/store.ts'
import { checkpoint, NOW, queueRun } from '../support/fixtures.ts'
import { describeStores } from './describe-stores.ts'
import { planAdmission } from './support/ask-admission.ts'
import { claimNext } from './support/claim-next.ts'

const ERROR = { name: 'Error', message: 'no luck' }
/** A claimed run of an event, let in with these tags. */
async function letIn(store: Store, eventId: string, tags: Tags) {
  await queueRun(store, eventId)
  const run = await claimNext(store)
  await store.admitRun(run.lease, planAdmission({ tags, isOnlyTagged: true }), NOW)
  return run
}

async function find(store: Store, filter: RunFilter): Promise<string[]> {
  const { items } = await store.searchRuns(filter, { rows: 5_000, limit: 20, after: null })
  return items.map(({ eventId }) => eventId ?? '')
}

describeStores((test, open) => {
  test('runs are found by all tags of a filter, newest first, whatever else narrows it', async ({ store }) => {
    const one = await letIn(store, 'evt_1', { customer: 'acme', region: 'eu' })
    const two = await letIn(store, 'evt_2', { customer: 'acme' })
    await letIn(store, 'evt_3', { region: 'eu' })
    await queueRun(store, 'evt_4')
    await store.failRun(two.lease, ERROR, NOW)
    const acme: RunFilter = { tags: [['customer', 'acme']] }
    expect(await find(store, acme)).toEqual(['evt_2', 'evt_1'])
    expect(
      await find(store, {
        tags: [
          ['customer', 'acme'],
          ['region', 'eu'],
        ],
      }),
    ).toEqual(['evt_1'])
    expect(
      await find(store, {
        tags: [
          ['customer', 'acme'],
          ['customer', 'other'],
        ],
      }),
    ).toEqual([])
    expect(await find(store, { ...acme, status: 'failed' })).toEqual(['evt_2'])
    expect(await find(store, { ...acme, statuses: ['running'], workflow: 'follow-up' })).toEqual(['evt_1'])
    expect(await find(store, { ...acme, eventId: 'evt_3' })).toEqual([])
    expect(await find(store, { ...acme, waitsForPerson: true })).toEqual([])
    expect(await find(store, { ...acme, before: two.lease.runId })).toEqual(['evt_1'])
    expect(await find(store, { tags: [['customer', 'Acme']] })).toEqual([])
    expect(await store.findRun(one.lease.runId)).toMatchObject({ tags: { customer: 'acme', region: 'eu' } })
    const groups = await store.groupFailures(acme, { rows: 100, limit: 20, after: null })
    expect(groups.items).toMatchObject([{ runs: 1, lastRun: two.lease.runId }])
    const none = await store.groupFailures({ tags: [['region', 'eu']] }, { rows: 100, limit: 20, after: null })
    expect(none.items).toEqual([])
  })

  test('a run that is only let in for its tags is a plain run, with its slot or without', async ({ store }) => {
    await queueRun(store, 'evt_1')
    const first = await claimNext(store)
    const tags = { customer: 'acme' }
    const plan = planAdmission({ tags, isOnlyTagged: true, mayStart: false, priority: 3 })
    expect((await store.admitRun(first.lease, plan, NOW)).verdict).toEqual({ kind: 'ready' })
    expect(await store.findRun(first.lease.runId)).toMatchObject({ status: 'pending', startedAt: null, tags })
    const again = await claimNext(store, NOW + 5)
    expect(again).toMatchObject({ tags, isAdmitted: false, startedAt: NOW + 5 })
    const started = await store.admitRun(again.lease, { ...plan, mayStart: true }, NOW + 6)
    expect(started.verdict).toEqual({ kind: 'admitted', startedAt: NOW + 5, folded: 0 })
    await store.parkRun(again.lease, { dueAt: NOW + 10, reason: 'sleeps' })
    const woken = await claimNext(store, NOW + 10)
    expect(woken).toMatchObject({ tags, startedAt: NOW + 5 })
    await store.completeRun(woken.lease, '1', NOW + 11)
    expect(await store.findRun(first.lease.runId)).toMatchObject({ status: 'completed', tags })
  })

  test('a run in line has its tags, and keeps them once it is admitted', async ({ store }) => {
    const gates = [{ name: 'concurrency-1', key: '', most: 1, perMs: null } as const]
    await queueRun(store, 'evt_1')
    const first = await claimNext(store)
    await store.admitRun(first.lease, planAdmission({ gates, tags: { n: '1' } }), NOW)
    await queueRun(store, 'evt_2')
    const second = await claimNext(store)
    const { verdict } = await store.admitRun(second.lease, planAdmission({ gates, tags: { n: '2' } }), NOW)
    expect(verdict.kind).toBe('queued')
    expect(await find(store, { tags: [['n', '2']] })).toEqual(['evt_2'])
    await store.completeRun(first.lease, '1', NOW)
    expect(await claimNext(store)).toMatchObject({ isAdmitted: true, tags: { n: '2' } })
  })

  test('tags are written with a step and with none, once each, and under the lease alone', async ({ store }) => {
    const { lease } = await letIn(store, 'evt_1', { customer: 'acme' })
    await store.saveCheckpoint(lease, checkpoint('a'), undefined, { tags: { customer: 'other', region: 'eu' } })
    await store.saveCheckpoint(lease, checkpoint('a'), undefined, { tags: { customer: 'other', region: 'eu' } })
    await store.saveTags(lease, { kind: 'x' })
    const tags = { customer: 'other', kind: 'x', region: 'eu' }
    expect(await store.findRun(lease.runId)).toMatchObject({ tags })
    expect(await find(store, { tags: [['customer', 'acme']] })).toEqual([])
    const stale = { ...lease, fence: lease.fence + 1 }
    await expect(store.saveTags(stale, { kind: 'y' })).rejects.toMatchObject({ code: 'stale_lease' })
    const saved = store.saveCheckpoint(stale, checkpoint('b'), undefined, { tags: { kind: 'y' } })
    await expect(saved).rejects.toMatchObject({ code: 'stale_lease' })
    expect((await store.findRun(lease.runId))?.tags).toEqual(tags)
  })

  test('a retry, a fork, a successor and a run of onFailure keep the tags; a fresh start does not', async () => {
    const { store } = await open()
    const tags = { customer: 'acme' }
    const failed = await letIn(store, 'evt_1', tags)
    await store.failRun(failed.lease, ERROR, NOW, true)
    const handler = await claimNext(store)
    expect(handler).toMatchObject({ handler: 'onFailure', tags })
    expect((await store.findRun(handler.lease.runId))?.tags).toEqual(tags)
    await store.completeRun(handler.lease, 'null', NOW)
    const fork = await store.forkRun(failed.lease.runId, { keys: [], edited: null }, NOW)
    expect((await store.findRun(fork))?.tags).toEqual(tags)
    await store.cancelRun(fork, 'by hand', NOW)
    await store.retryRun(failed.lease.runId, NOW)
    const retried = await claimNext(store)
    expect(retried).toMatchObject({ tags, lease: { runId: failed.lease.runId } })
    const successor = { run: `${failed.lease.runId}x`, account: 'default', input: '1', received: {} }
    await store.continueRun(retried.lease, successor, NOW)
    const next = await claimNext(store)
    expect(next).toMatchObject({ origin: 'continue', tags })
    await store.parkRun(next.lease, { dueAt: null, reason: 'for a person' })
    await store.resumeRun(next.lease.runId, { fromScratch: true })
    expect((await store.findRun(next.lease.runId))?.tags).toEqual({})
  })

  test('the newest word of a run for its progress stays, under its lease alone, until a fresh start', async () => {
    const { store } = await open()
    await queueRun(store, 'evt_1')
    const { lease } = await claimNext(store)
    expect(await store.findRun(lease.runId)).toMatchObject({ progress: null })
    const progress = { done: 0.5, total: 12_345_678_901, failed: 0, note: 'bytes', rate: null, at: NOW }
    await store.saveProgress(lease, progress)
    await store.saveProgress(lease, { ...progress, done: 3, failed: 4, note: null, rate: 1.5 })
    const stale = store.saveProgress({ ...lease, fence: lease.fence + 1 }, progress)
    await expect(stale).rejects.toMatchObject({ code: 'stale_lease' })
    const newest = { ...progress, done: 3, failed: 4, note: null, rate: 1.5 }
    expect(await store.findRun(lease.runId)).toMatchObject({ progress: newest })
    expect(await store.listRuns({ limit: 1 })).toMatchObject([{ progress: newest }])
    await store.parkRun(lease, { dueAt: null, reason: 'for a person' })
    await store.resumeRun(lease.runId, { fromScratch: true })
    expect((await store.findRun(lease.runId))?.progress).toBeNull()
  })
})
