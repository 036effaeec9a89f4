import { expect, test } from 'vitest'
import type { AdmissionPlan, AdmissionVerdict, Fold, Gate } from '../../src/core/runs/admission.ts'
import { UNADMITTED_PRIORITY } from '../../src/core/runs/admission.ts'
import type { ClaimedRun } from '../../src/core/runs/claim.ts'
import type { Store } from '../../src/core/store/store.ts'
import { checkpoint, incoming, NOW, queueRun } from '../support/fixtures.ts'
import type { OpenStore } from './open-store.ts'

const concurrency: Gate = { name: 'concurrency-1', key: 'a', most: 1, perMs: null }
const throttle: Gate = { name: 'throttle', key: '', most: 1, perMs: 100 }
const singleton: Gate = { name: 'singleton', key: '', most: 1, perMs: null }
const batch: Fold = { kind: 'batch', key: 'a', size: 3, waitMs: 100 }
const debounce: Fold = { kind: 'debounce', key: 'a', waitMs: 100, maxMs: 1_000 }

function plan(part: Partial<AdmissionPlan> = {}): AdmissionPlan {
  return {
    priority: 0,
    hasStarted: false,
    startBy: null,
    wakeAt: null,
    mayStart: true,
    fold: null,
    onConflict: 'skip',
    gates: [],
    ...part,
  }
}

async function claimNext(store: Store, now = NOW): Promise<ClaimedRun> {
  const [run] = await store.claimRuns('wrk_1', 1, now)
  if (!run) throw new Error('a run was to be claimed')
  return run
}

/** A new run, claimed. */
async function arrive(store: Store, eventId: string, now = NOW): Promise<ClaimedRun> {
  await queueRun(store, eventId, 'follow-up', now)
  return claimNext(store, now)
}

async function ask(store: Store, run: ClaimedRun, part: Partial<AdmissionPlan>, now = NOW): Promise<AdmissionVerdict> {
  return (await store.admitRun(run.lease, plan(part), now)).verdict
}

export function describeFlow(open: OpenStore): void {
  test('admits a run once, with the moment of its start', async () => {
    const { store } = open()
    const run = await arrive(store, 'evt_1')
    expect(run).toMatchObject({ isAdmitted: false, folded: 0 })
    expect(await ask(store, run, { gates: [concurrency] }, NOW + 5)).toEqual({
      kind: 'admitted',
      startedAt: NOW + 5,
      folded: 0,
    })
    expect(await store.findRun(run.lease.runId)).toMatchObject({ status: 'running', startedAt: NOW + 5 })
    await store.completeRun(run.lease, 'null', NOW + 6)
  })

  test('keeps its place for a run whose worker died, and asks nothing of it again', async () => {
    const { store, reopen } = open()
    await store.startWorker('wrk_1', NOW)
    const run = await arrive(store, 'evt_1')
    await ask(store, run, { gates: [concurrency] })
    const second = await arrive(store, 'evt_2')
    await ask(store, second, { gates: [concurrency] })
    await reopen().stopWorker('wrk_1')
    expect(await claimNext(store)).toMatchObject({
      isAdmitted: true,
      startedAt: NOW,
      lease: { runId: run.lease.runId },
    })
    expect(await store.claimRuns('wrk_1', 10, NOW)).toEqual([])
  })

  test('refuses an admission with an older fence', async () => {
    const { store } = open()
    const run = await arrive(store, 'evt_1')
    await store.releaseRun(run.lease)
    await store.claimRuns('wrk_2', 1, NOW)
    await expect(store.admitRun(run.lease, plan(), NOW)).rejects.toMatchObject({ code: 'stale_lease' })
  })

  test.each([
    ['completes', (store: Store, run: ClaimedRun) => store.completeRun(run.lease, 'null', NOW)],
    ['fails', (store: Store, run: ClaimedRun) => store.failRun(run.lease, { name: 'Error', message: 'no' }, NOW)],
    ['is skipped', (store: Store, run: ClaimedRun) => store.skipRun(run.lease, 'no', NOW)],
    ['sleeps', (store: Store, run: ClaimedRun) => store.parkRun(run.lease, { dueAt: NOW + 1e6, reason: 'sleeps' })],
    ['waits for a person', (store: Store, run: ClaimedRun) => store.parkRun(run.lease, { dueAt: null, reason: 'odd' })],
    [
      'is to be tried again',
      (store: Store, run: ClaimedRun) =>
        store.postponeRun(run.lease, { dueAt: NOW + 1e6, error: { name: 'Error', message: 'no' } }),
    ],
    ['is canceled', (store: Store, run: ClaimedRun) => store.cancelRun(run.lease.runId, 'by hand', NOW)],
  ])('lets exactly one in when a run %s, in the same commit', async (_how, end) => {
    const { store, reopen } = open()
    const first = await arrive(store, 'evt_1')
    await ask(store, first, { gates: [concurrency] })
    const others = [await arrive(store, 'evt_2'), await arrive(store, 'evt_3')]
    for (const run of others) await ask(store, run, { gates: [concurrency] })
    await end(store, first)
    const [second, third] = others.map((run) => run.lease.runId)
    expect(await reopen().findRun(second ?? '')).toMatchObject({ status: 'pending', reason: null, isInLine: false })
    expect(await store.findRun(third ?? '')).toMatchObject({ status: 'waiting', isInLine: true })
  })

  test('lets nobody in when a run is only handed back', async () => {
    const { store } = open()
    const first = await arrive(store, 'evt_1')
    await ask(store, first, { gates: [concurrency] })
    const second = await arrive(store, 'evt_2')
    await ask(store, second, { gates: [concurrency] })
    await store.releaseRun(first.lease)
    expect(await store.claimRuns('wrk_1', 10, NOW)).toMatchObject([
      { isAdmitted: true, lease: { runId: first.lease.runId } },
    ])
  })

  test('a run that comes back from a sleep stands in line by its age', async () => {
    const { store } = open()
    const first = await arrive(store, 'evt_1')
    await ask(store, first, { gates: [concurrency] })
    await store.saveCheckpoint(first.lease, checkpoint('a'))
    const second = await arrive(store, 'evt_2')
    await ask(store, second, { gates: [concurrency] })
    const third = await arrive(store, 'evt_3')
    await ask(store, third, { gates: [concurrency] })
    await store.parkRun(first.lease, { dueAt: NOW + 10, reason: 'sleeps' })
    const [back, next] = await store.claimRuns('wrk_1', 2, NOW + 10)
    if (!back || !next) throw new Error('two runs were to be claimed')
    expect(back).toMatchObject({ isAdmitted: false, startedAt: NOW, lease: { runId: first.lease.runId } })
    const verdict = await ask(store, back, { hasStarted: true, wakeAt: NOW + 99, gates: [concurrency] }, NOW + 10)
    expect(verdict).toEqual({
      kind: 'queued',
      dueAt: NOW + 99,
      reason: 'concurrency: 1 of 1 runs with key a are at work',
    })
    await store.completeRun(next.lease, 'null', NOW + 11)
    expect(await store.claimRuns('wrk_1', 10, NOW + 11)).toMatchObject([
      { isAdmitted: true, startedAt: NOW, lease: { runId: first.lease.runId } },
    ])
  })

  test('a throttle counts the starts, not the claims, and does not count a run twice', async () => {
    const { store } = open()
    const run = await arrive(store, 'evt_1')
    expect(await ask(store, run, { mayStart: false, gates: [throttle] })).toEqual({ kind: 'ready' })
    const second = await arrive(store, 'evt_2', NOW + 1)
    // The claim was of the first one, which is let in and starts now.
    expect(second).toMatchObject({ isAdmitted: true, startedAt: NOW + 1, lease: { runId: run.lease.runId } })
    await store.parkRun(second.lease, { dueAt: NOW + 2, reason: 'sleeps' })
    const again = await claimNext(store, NOW + 2)
    expect(await ask(store, again, { gates: [throttle] }, NOW + 2)).toMatchObject({
      kind: 'admitted',
      startedAt: NOW + 1,
    })
    const other = await claimNext(store, NOW + 2)
    expect(await ask(store, other, { gates: [throttle] }, NOW + 2)).toMatchObject({ kind: 'queued', dueAt: NOW + 101 })
    expect(await store.nextDueAt()).toBe(NOW + 101)
  })

  test('a run that has started is asked by no throttle again, also while it stands in line', async () => {
    const { store } = open()
    const gates = [throttle, concurrency]
    const first = await arrive(store, 'evt_1')
    await ask(store, first, { gates })
    await store.parkRun(first.lease, { dueAt: NOW + 150, reason: 'sleeps' })
    const second = await arrive(store, 'evt_2', NOW + 100)
    await ask(store, second, { gates }, NOW + 100)
    const back = await claimNext(store, NOW + 150)
    expect(await ask(store, back, { gates, hasStarted: true }, NOW + 150)).toMatchObject({ kind: 'queued' })
    await store.completeRun(second.lease, 'null', NOW + 151)
    expect(await store.findRun(first.lease.runId)).toMatchObject({ status: 'pending', isInLine: false })
  })

  test('a batch that is full goes through its gates like any other run', async () => {
    const { store } = open()
    const busy = await arrive(store, 'evt_0')
    await ask(store, busy, { gates: [concurrency] })
    const leader = await arrive(store, 'evt_1')
    expect(await ask(store, leader, { fold: batch, gates: [concurrency] })).toMatchObject({
      kind: 'queued',
      dueAt: NOW + 100,
    })
    for (const id of ['evt_2', 'evt_3'])
      await ask(store, await arrive(store, id), { fold: batch, gates: [concurrency] })
    expect(await store.findRun(leader.lease.runId)).toMatchObject({
      status: 'waiting',
      dueAt: null,
      folded: 2,
      reason: 'concurrency: 1 of 1 runs with key a are at work',
    })
    await store.completeRun(busy.lease, 'null', NOW)
    const run = await claimNext(store)
    expect(run).toMatchObject({ isAdmitted: true, folded: 2, lease: { runId: leader.lease.runId } })
    expect((await store.listRunEvents(leader.lease.runId)).map((event) => event.id)).toEqual([
      'evt_1',
      'evt_2',
      'evt_3',
    ])
  })

  test('a batch that a person canceled takes nobody in any more', async () => {
    const { store } = open()
    const leader = await arrive(store, 'evt_1')
    await ask(store, leader, { fold: batch })
    await store.cancelRun(leader.lease.runId, 'by hand', NOW)
    expect(await ask(store, await arrive(store, 'evt_2'), { fold: batch })).toMatchObject({ kind: 'queued' })
  })

  test('a due debounce that a worker has in hand starts with what it has; the next event begins another', async () => {
    const { store } = open()
    const first = await arrive(store, 'evt_1')
    await ask(store, first, { fold: debounce })
    const due = await claimNext(store, NOW + 100)
    const next = await arrive(store, 'evt_2', NOW + 100)
    expect(await ask(store, next, { fold: debounce }, NOW + 100)).toMatchObject({ kind: 'queued', dueAt: NOW + 200 })
    expect(await ask(store, due, { fold: debounce }, NOW + 100)).toMatchObject({ kind: 'admitted', folded: 0 })
    expect(await store.findRun(next.lease.runId)).toMatchObject({ status: 'waiting', folded: 0 })
  })

  test('an older event that comes late does not replace the newest one', async () => {
    const { store } = open()
    await queueRun(store, 'evt_1')
    await queueRun(store, 'evt_2')
    const [older, newer] = await store.claimRuns('wrk_1', 2, NOW)
    if (!older || !newer) throw new Error('two runs were queued')
    await ask(store, newer, { fold: debounce })
    expect(await ask(store, older, { fold: debounce }, NOW + 50)).toEqual({
      kind: 'skipped',
      reason: `folded into ${newer.lease.runId}`,
    })
    expect(await store.findRun(newer.lease.runId)).toMatchObject({ folded: 1, dueAt: NOW + 150 })
  })

  test('a run folded twice over still brings all of its events', async () => {
    const { store } = open()
    const first = await arrive(store, 'evt_1')
    await ask(store, first, { fold: debounce })
    const second = await arrive(store, 'evt_2')
    await ask(store, second, { fold: debounce })
    const third = await arrive(store, 'evt_3')
    await ask(store, third, { fold: debounce })
    const ids = (await store.listRunEvents(third.lease.runId)).map((event) => event.id)
    expect(ids).toEqual(['evt_1', 'evt_2', 'evt_3'])
  })

  test('a singleton that replaces cancels the older run and refuses what it still writes', async () => {
    const { store } = open()
    const older = await arrive(store, 'evt_1')
    const part = { gates: [singleton], onConflict: 'cancel' } as const
    await ask(store, older, part)
    const newer = await arrive(store, 'evt_2')
    expect(await store.admitRun(newer.lease, plan(part), NOW)).toEqual({
      verdict: { kind: 'admitted', startedAt: NOW, folded: 0 },
      canceled: [older.lease.runId],
    })
    await expect(store.completeRun(older.lease, 'null', NOW)).rejects.toMatchObject({ code: 'stale_lease' })
  })

  test('a singleton never cancels a newer run for an older one', async () => {
    const { store } = open()
    await queueRun(store, 'evt_1')
    await queueRun(store, 'evt_2')
    const [older, newer] = await store.claimRuns('wrk_1', 2, NOW)
    if (!older || !newer) throw new Error('two runs were queued')
    const part = { gates: [singleton], onConflict: 'cancel' } as const
    await ask(store, newer, part)
    expect(await ask(store, older, part)).toMatchObject({ kind: 'canceled' })
    expect(await store.findRun(newer.lease.runId)).toMatchObject({ status: 'running' })
  })

  test('a singleton lets go of a key when its run has ended, not when it sleeps', async () => {
    const { store } = open()
    const first = await arrive(store, 'evt_1')
    await ask(store, first, { gates: [singleton] })
    await store.parkRun(first.lease, { dueAt: NOW + 10, reason: 'sleeps' })
    expect(await ask(store, await arrive(store, 'evt_2'), { gates: [singleton] })).toEqual({
      kind: 'skipped',
      reason: `singleton: ${first.lease.runId} is unfinished`,
    })
    const back = await claimNext(store, NOW + 10)
    expect(await ask(store, back, { hasStarted: true, gates: [singleton] }, NOW + 10)).toMatchObject({
      kind: 'admitted',
    })
    await store.completeRun(back.lease, 'null', NOW + 11)
    expect(await ask(store, await arrive(store, 'evt_3'), { gates: [singleton] })).toMatchObject({ kind: 'admitted' })
  })

  test('cancels a run that asks too late', async () => {
    const { store } = open()
    const run = await arrive(store, 'evt_1')
    expect(await ask(store, run, { startBy: NOW + 10 }, NOW + 10)).toMatchObject({ kind: 'canceled' })
    expect(await store.findRun(run.lease.runId)).toMatchObject({
      status: 'canceled',
      startedAt: null,
      finishedAt: NOW + 10,
      reason: 'timeout: it had not started by 2026-06-01T12:00:00.010Z',
    })
  })

  test('hands out limited runs that nobody has looked at before all others, also by themselves', async () => {
    const { store } = open()
    await queueRun(store, 'evt_1', 'plain')
    const priorities = { limited: UNADMITTED_PRIORITY }
    await store.saveDelivery(incoming('evt_2', { workflows: ['limited'], priorities }))
    const [unseen] = await store.claimUnadmittedRuns('wrk_1', 10, NOW)
    if (!unseen) throw new Error('a run was to be looked at')
    expect(unseen).toMatchObject({ workflow: 'limited' })
    expect(await store.claimUnadmittedRuns('wrk_1', 10, NOW)).toEqual([])
    await ask(store, unseen, { priority: -3, mayStart: false })
    const claimed = await store.claimRuns('wrk_1', 10, NOW)
    expect(claimed.map((run) => [run.workflow, run.isAdmitted])).toEqual([
      ['plain', false],
      ['limited', true],
    ])
  })

  test('forgets that a run began when it was parked before its code ran', async () => {
    const { store } = open()
    const run = await arrive(store, 'evt_1')
    await store.parkRun(run.lease, { dueAt: NOW + 1, reason: 'no module', hasNotStarted: true })
    expect(await store.findRun(run.lease.runId)).toMatchObject({ startedAt: null })
    expect(await claimNext(store, NOW + 1)).toMatchObject({ startedAt: NOW + 1 })
  })
}
