import { expect } from 'vitest'
import { NOW } from '../support/fixtures.ts'
import { lastAt, saveLine } from '../support/lines.ts'
import { describeStores } from './describe-stores.ts'

const HOUR = 3_600_000

describeStores((test) => {
  test('a tick is recorded once, whatever process fires it', async ({ store, reopen }) => {
    const other = await reopen()
    const tick = { scheduledFor: NOW, missed: 0 }
    const runs = [await store.recordTick('nightly', tick, NOW + 1), await other.recordTick('nightly', tick, NOW + 2)]
    expect(runs.filter((run) => run !== null)).toHaveLength(1)
    expect(await store.listRuns({ limit: 10 })).toMatchObject([{ workflow: 'nightly', tickAt: NOW, eventId: null }])
  })

  test('the run of a tick knows its moment, the one before, and how many were missed between', async ({ store }) => {
    await store.recordTick('nightly', { scheduledFor: NOW, missed: 0 }, NOW)
    await store.recordTick('nightly', { scheduledFor: NOW + 3 * HOUR, missed: 2 }, NOW + 3 * HOUR)
    const claimed = await store.claimRuns('wrk_1', 10, NOW + 3 * HOUR)
    expect(claimed.map((run) => run.cause)).toEqual([
      { kind: 'tick', account: 'default', scheduledFor: NOW, lastRunAt: null, missed: 0 },
      { kind: 'tick', account: 'default', scheduledFor: NOW + 3 * HOUR, lastRunAt: NOW, missed: 2 },
    ])
  })

  test('a moment has a tick for each account, which wait only for those of their own', async ({ store }) => {
    await saveLine(store, 'nightly', NOW - 1)
    const record = (at: number, account: string, isLast: boolean) =>
      store.recordTick('nightly', { scheduledFor: at, missed: 2 }, at, { overlap: 'queue', account, isLast })
    const runs = [await record(NOW, 'one', false), await record(NOW, 'two', true), await record(NOW + 1, 'one', true)]
    expect(await record(NOW, 'one', false)).toBeNull()
    const found = await Promise.all(runs.map((run) => store.findRun(run ?? '')))
    expect(found).toMatchObject([
      { account: 'one', status: 'pending' },
      { account: 'two', status: 'pending' },
      { account: 'one', status: 'waiting' },
    ])
    const claimed = await store.claimRuns('wrk_1', 9, NOW)
    for (const { lease, cause } of claimed) {
      if (cause.kind === 'tick' && cause.account === 'two') await store.completeRun(lease, 'null', NOW)
    }
    expect(await store.findRun(runs[2] ?? '')).toMatchObject({ status: 'waiting' })
    for (const { lease, cause } of claimed) {
      if (cause.kind === 'tick' && cause.account === 'one') await store.completeRun(lease, 'null', NOW)
    }
    const [next] = await store.claimRuns('wrk_1', 9, NOW)
    expect(next?.cause).toMatchObject({ account: 'one', scheduledFor: NOW + 1, lastRunAt: NOW })
  })

  test('a moment counts as handled with the tick of its last account, and its missed ones once', async ({ store }) => {
    await saveLine(store, 'nightly', NOW - 1)
    const tick = { scheduledFor: NOW, missed: 2 }
    await store.recordTick('nightly', tick, NOW, { account: 'one', isLast: false })
    expect(await lastAt(store, 'nightly')).toBe(NOW - 1)
    await store.recordTick('nightly', tick, NOW, { account: 'two' })
    expect(await lastAt(store, 'nightly')).toBe(NOW)
    expect(await store.listSchedules({ limit: 9 })).toMatchObject([{ missed: 2, unfinished: 2 }])
  })

  test('missed moments are counted before a tick tells of them, and once', async ({ store }) => {
    const missed = async () => (await store.listSchedules({ limit: 9 }))[0]?.missed
    await saveLine(store, 'nightly', NOW)
    const notes = await Promise.all([2, 2, 3].map((count) => store.noteMissed('nightly', count, NOW)))
    expect([notes.reduce((sum, count) => sum + count), await missed()]).toEqual([3, 3])
    expect(await store.noteMissed('nightly', 9, NOW - 1)).toBe(0)
    await store.recordTick('nightly', { scheduledFor: NOW + HOUR, missed: 4 }, NOW + HOUR)
    expect(await missed()).toBe(4)
    expect(await store.noteMissed('nightly', 1, NOW + HOUR)).toBe(1)
    // Moments of a pause are counted as suppressed, and those before it are counted already.
    await store.pauseSchedule('nightly', true, NOW + 2 * HOUR)
    expect(await store.noteMissed('nightly', 5, NOW + HOUR)).toBe(0)
    await store.pauseSchedule('nightly', false, NOW + 3 * HOUR)
    expect([await store.noteMissed('nightly', 1, NOW + 3 * HOUR), await missed()]).toEqual([1, 6])
  })

  test('a cron line with other moments starts now and catches up with nothing', async ({ store }) => {
    await saveLine(store, 'nightly', NOW)
    await saveLine(store, 'nightly', NOW + HOUR, { line: '* * * * *' })
    expect(await lastAt(store, 'nightly')).toBe(NOW + HOUR)
    await saveLine(store, 'nightly', NOW + 2 * HOUR, { line: '* * * * *', timezone: 'Asia/Kolkata' })
    expect(await lastAt(store, 'nightly')).toBe(NOW + 2 * HOUR)
    await saveLine(store, 'nightly', NOW + 3 * HOUR, { line: '* * * * *', timezone: 'Asia/Kolkata', overlap: 'skip' })
    expect(await lastAt(store, 'nightly')).toBe(NOW + 2 * HOUR)
  })

  test('a line whose zone has got another name goes on', async ({ store }) => {
    await saveLine(store, 'nightly', NOW, { timezone: 'Europe/Kiev' })
    await saveLine(store, 'nightly', NOW + HOUR, { timezone: 'Europe/Kyiv' })
    expect(await lastAt(store, 'nightly')).toBe(NOW)
    await saveLine(store, 'nightly', NOW + 2 * HOUR, { timezone: 'Europe/Berlin' })
    expect(await lastAt(store, 'nightly')).toBe(NOW + 2 * HOUR)
  })

  test('a cron line that was taken out and comes back starts now, also with the same moments', async ({ store }) => {
    await saveLine(store, 'nightly', NOW)
    await store.saveWorkflows({ workflows: [], broken: [] }, NOW + HOUR)
    await saveLine(store, 'nightly', NOW + 2 * HOUR)
    expect(await lastAt(store, 'nightly')).toBe(NOW + 2 * HOUR)
  })

  test('a queued tick starts in the commit that ends the one before it, whatever ends that', async ({ store }) => {
    const ticks: string[] = []
    for (const n of [0, 1, 2, 3]) {
      ticks.push(
        (await store.recordTick('nightly', { scheduledFor: NOW + n, missed: 0 }, NOW + n, { overlap: 'queue' })) ?? '',
      )
    }
    const statuses = async () => Promise.all(ticks.map(async (id) => (await store.findRun(id))?.status))
    expect(await statuses()).toEqual(['pending', 'waiting', 'waiting', 'waiting'])
    const [first] = await store.claimRuns('wrk_1', 9, NOW)
    if (first) await store.failRun(first.lease, { name: 'Error', message: '' }, NOW, true)
    expect(await statuses()).toEqual(['failed', 'pending', 'waiting', 'waiting'])
    await store.cancelRun(ticks[2] ?? '', 'by hand', NOW)
    expect(await statuses()).toEqual(['failed', 'pending', 'canceled', 'waiting'])
    const [, second] = await store.claimRuns('wrk_1', 9, NOW)
    const next = second ?? (await store.claimRuns('wrk_1', 9, NOW))[0]
    if (next) await store.cancelRun(ticks[1] ?? '', 'by hand', NOW)
    expect(await statuses()).toEqual(['failed', 'canceled', 'canceled', 'pending'])
  })

  test('a tick is skipped and counted while the one before it is unfinished', async ({ store }) => {
    await saveLine(store, 'nightly', NOW - 1, { line: '* * * * *' })
    await store.recordTick('nightly', { scheduledFor: NOW, missed: 3 }, NOW, { overlap: 'skip' })
    const run = await store.recordTick('nightly', { scheduledFor: NOW + 1, missed: 0 }, NOW + 1, { overlap: 'skip' })
    expect(await store.findRun(run ?? '')).toMatchObject({
      status: 'skipped',
      finishedAt: NOW + 1,
      reason: expect.stringMatching(/^run_\w+ of the tick before it is not finished$/),
    })
    expect(await store.listSchedules({ limit: 9 })).toMatchObject([
      { workflow: 'nightly', missed: 3, skipped: 1, unfinished: 1, lastTickAt: NOW + 1, lastRun: run, pausedAt: null },
    ])
    const allowed = await store.recordTick('nightly', { scheduledFor: NOW + 2, missed: 0 }, NOW + 2, {
      overlap: 'allow',
    })
    expect(await store.findRun(allowed ?? '')).toMatchObject({ status: 'pending' })
  })

  test('the ticks of a paused workflow are kept and run one after the other', async ({ store }) => {
    await store.pauseWorkflow('nightly', NOW)
    for (const n of [0, 1])
      await store.recordTick('nightly', { scheduledFor: NOW + n, missed: 0 }, NOW + n, { overlap: 'skip' })
    expect(await store.claimRuns('wrk_1', 9, NOW)).toEqual([])
    await store.recordTick('nightly', { scheduledFor: NOW + 2, missed: 0 }, NOW + 2, { overlap: 'skip' })
    await store.resumeWorkflow('nightly')
    await store.releaseHeldRuns('nightly', 9)
    const order: (number | undefined)[] = []
    for (const [run] of [await store.claimRuns('wrk_1', 9, NOW)]) {
      order.push(run?.cause.kind === 'tick' ? run.cause.scheduledFor : undefined)
      if (run) await store.completeRun(run.lease, 'null', NOW)
    }
    const rest = await store.claimRuns('wrk_1', 9, NOW)
    expect(order).toEqual([NOW])
    expect(rest).toHaveLength(1)
  })

  test('a paused schedule counts its moments, makes no run, and does not catch up', async ({ store, reopen }) => {
    await expect(store.pauseSchedule('nightly', true, NOW)).rejects.toMatchObject({ code: 'not_found' })
    await saveLine(store, 'nightly', NOW)
    expect(await (await reopen()).pauseSchedule('nightly', true, NOW)).toBe(true)
    expect(await store.pauseSchedule('nightly', true, NOW)).toBe(false)
    for (const _scheduler of [1, 2]) {
      expect(await store.recordTick('nightly', { scheduledFor: NOW + HOUR, missed: 0 }, NOW + HOUR)).toBeNull()
    }
    const manual = await store.recordTick('nightly', { scheduledFor: NOW + HOUR + 5, missed: 0 }, NOW + HOUR + 5, {
      isManual: true,
    })
    expect(await store.findRun(manual ?? '')).toMatchObject({ origin: 'manual', status: 'pending' })
    expect(await store.pauseSchedule('nightly', false, NOW + 2 * HOUR)).toBe(true)
    expect(await lastAt(store, 'nightly')).toBe(NOW + 2 * HOUR)
    expect(await store.listSchedules({ limit: 9 })).toMatchObject([{ suppressed: 1, missed: 0, unfinished: 1 }])
  })

  test('a manual tick is no moment of the cron line', async ({ store }) => {
    await saveLine(store, 'nightly', NOW)
    await store.recordTick('nightly', { scheduledFor: NOW + HOUR, missed: 0 }, NOW + HOUR, { isManual: true })
    expect(await lastAt(store, 'nightly')).toBe(NOW)
  })
})
