import { expect } from 'vitest'
import { isoTime } from '../../src/core/time.ts'
import { NOW, queueRun } from '../support/fixtures.ts'
import { describeStores } from './describe-stores.ts'
import { arrive, askAdmission, batch, concurrency, debounce } from './support/ask-admission.ts'
import { claimNext } from './support/claim-next.ts'

describeStores((test, open) => {
  test('a full batch goes through its gates like any other run', async ({ store }) => {
    const busy = await arrive(store, 'evt_0')
    await askAdmission(store, busy, { gates: [concurrency] })
    const leader = await arrive(store, 'evt_1')
    expect(await askAdmission(store, leader, { fold: batch, gates: [concurrency] })).toMatchObject({
      kind: 'queued',
      dueAt: NOW + 100,
    })
    for (const id of ['evt_2', 'evt_3'])
      await askAdmission(store, await arrive(store, id), { fold: batch, gates: [concurrency] })
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
    expect(await store.hasNewerFolded(leader.lease.runId)).toBe(true)
  })

  test('a run that gathers is canceled at the moment by which it has to start, though it is not due', async ({
    store,
  }) => {
    const part = { fold: batch, startBy: NOW + 50, wakeAt: NOW + 50 }
    const leader = await arrive(store, 'evt_1')
    expect(await askAdmission(store, leader, part)).toMatchObject({ kind: 'queued', dueAt: NOW + 50 })
    await askAdmission(store, await arrive(store, 'evt_2'), part)
    expect(await store.findRun(leader.lease.runId)).toMatchObject({ dueAt: NOW + 50, folded: 1 })
    const again = await claimNext(store, NOW + 50)
    expect(await askAdmission(store, again, part, NOW + 50)).toMatchObject({ kind: 'canceled' })
  })

  test('a canceled batch absorbs no more runs', async ({ store }) => {
    const leader = await arrive(store, 'evt_1')
    await askAdmission(store, leader, { fold: batch })
    await store.cancelRun(leader.lease.runId, 'by hand', NOW)
    expect(await askAdmission(store, await arrive(store, 'evt_2'), { fold: batch })).toMatchObject({ kind: 'queued' })
  })

  test('a due debounce that is claimed starts with its events, and the next event begins another', async () => {
    const { store } = await open()
    const first = await arrive(store, 'evt_1')
    await askAdmission(store, first, { fold: debounce })
    const due = await claimNext(store, NOW + 100)
    const next = await arrive(store, 'evt_2', NOW + 100)
    expect(await askAdmission(store, next, { fold: debounce }, NOW + 100)).toMatchObject({
      kind: 'queued',
      dueAt: NOW + 200,
    })
    expect(await askAdmission(store, due, { fold: debounce }, NOW + 100)).toMatchObject({ kind: 'admitted', folded: 0 })
    expect(await store.findRun(next.lease.runId)).toMatchObject({ status: 'waiting', folded: 0 })
  })

  test('in a debounce, an older event that comes late does not replace the newest one', async ({ store }) => {
    await queueRun(store, 'evt_1')
    await queueRun(store, 'evt_2')
    const [older, newer] = await store.claimRuns('wrk_1', 2, NOW)
    if (!older || !newer) throw new Error('two runs were queued')
    await askAdmission(store, newer, { fold: debounce })
    expect(await askAdmission(store, older, { fold: debounce }, NOW + 50)).toEqual({
      kind: 'skipped',
      reason: `folded into ${newer.lease.runId}`,
    })
    const reason = `debounce: 2 events, until ${isoTime(NOW + 150)}`
    expect(await store.findRun(newer.lease.runId)).toMatchObject({ folded: 1, dueAt: NOW + 150, reason })
    expect(await store.hasNewerFolded(newer.lease.runId)).toBe(false)
  })

  test('a batch that began while the clock was ahead starts soon after the next event of a right clock', async ({
    store,
  }) => {
    const ahead = NOW + 86_400_000
    const leader = await arrive(store, 'evt_1', ahead)
    await askAdmission(store, leader, { fold: batch }, ahead)
    await askAdmission(store, await arrive(store, 'evt_2'), { fold: batch })
    expect(await store.findRun(leader.lease.runId)).toMatchObject({
      dueAt: NOW + 100,
      reason: `batch: 2 of 3, until ${isoTime(NOW + 100)}`,
    })
    const due = await claimNext(store, NOW + 100)
    expect(await askAdmission(store, due, { fold: batch }, NOW + 100)).toMatchObject({ kind: 'admitted', folded: 1 })
  })

  test('a debounce that began while the clock was ahead keeps to its `max` from the next event on', async ({
    store,
  }) => {
    const ahead = NOW + 86_400_000
    await askAdmission(store, await arrive(store, 'evt_1', ahead), { fold: debounce }, ahead)
    const fold = { ...debounce, maxMs: 150 }
    await askAdmission(store, await arrive(store, 'evt_2'), { fold })
    const newest = await arrive(store, 'evt_3', NOW + 90)
    expect(await askAdmission(store, newest, { fold }, NOW + 90)).toMatchObject({ kind: 'queued', dueAt: NOW + 150 })
  })

  test('a run folded into a folded run still brings all its events', async ({ store }) => {
    const first = await arrive(store, 'evt_1')
    await askAdmission(store, first, { fold: debounce })
    const second = await arrive(store, 'evt_2')
    await askAdmission(store, second, { fold: debounce })
    const third = await arrive(store, 'evt_3')
    await askAdmission(store, third, { fold: debounce })
    const ids = (await store.listRunEvents(third.lease.runId)).map((event) => event.id)
    expect(ids).toEqual(['evt_1', 'evt_2', 'evt_3'])
  })

  test('of a long debounce, each folded run is at most three steps from the one that brings its event', async ({
    store,
  }) => {
    const names = Array.from({ length: 12 }, (_, n) => `evt_${10 + n}`)
    const queued: string[] = []
    for (const id of names) queued.push(await queueRun(store, id))
    const claimed = Map.groupBy(await store.claimRuns('wrk_1', names.length, NOW), ({ lease }) => lease.runId)
    // The seventh event comes before the third to sixth one.
    for (const n of [0, 1, 6, 2, 3, 4, 5, 7, 8, 9, 10, 11]) {
      for (const run of claimed.get(queued[n] ?? '') ?? []) await askAdmission(store, run, { fold: debounce })
    }
    const stepsOf = async (id: string): Promise<number> => {
      const next = (await store.findRun(id))?.foldedInto ?? null
      return next === null ? 0 : 1 + (await stepsOf(next))
    }
    const newest = queued.pop() ?? ''
    expect(await store.findRun(newest)).toMatchObject({ status: 'waiting', folded: 11 })
    expect((await store.listRunEvents(newest)).map((event) => event.id)).toEqual(names)
    const steps = await Promise.all(queued.map(stepsOf))
    expect(Math.min(...steps)).toBe(1)
    expect(Math.max(...steps)).toBeLessThanOrEqual(3)
  })
})
