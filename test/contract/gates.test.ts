import { expect } from 'vitest'
import { deriveRunId, newId } from '../../src/core/ids.ts'
import { UNADMITTED_PRIORITY } from '../../src/core/runs/admission.ts'
import type { ClaimedRun } from '../../src/core/runs/claim.ts'
import type { Store } from '../../src/core/store/store.ts'
import { checkpoint, incoming, NOW, queueRun } from '../support/fixtures.ts'
import { describeStores } from './describe-stores.ts'
import { arrive, askAdmission, concurrency, planAdmission, singleton, throttle } from './support/ask-admission.ts'
import { claimNext } from './support/claim-next.ts'

describeStores((test, open) => {
  test('an admission with an older fence is refused', async ({ store }) => {
    const run = await arrive(store, 'evt_1')
    await store.releaseRun(run.lease)
    await store.claimRuns('wrk_2', 1, NOW)
    await expect(store.admitRun(run.lease, planAdmission(), NOW)).rejects.toMatchObject({ code: 'stale_lease' })
  })

  test.each([
    ['completes', (store: Store, run: ClaimedRun) => store.completeRun(run.lease, 'null', NOW)],
    ['fails', (store: Store, run: ClaimedRun) => store.failRun(run.lease, { name: 'Error', message: 'no' }, NOW)],
    ['is skipped', (store: Store, run: ClaimedRun) => store.skipRun(run.lease, 'no', NOW)],
    [
      'is planned',
      (store: Store, run: ClaimedRun) => store.endPlanned(run.lease, { reason: 'would', plan: '{}' }, NOW),
    ],
    ['sleeps', (store: Store, run: ClaimedRun) => store.parkRun(run.lease, { dueAt: NOW + 1e6, reason: 'sleeps' })],
    ['waits for a person', (store: Store, run: ClaimedRun) => store.parkRun(run.lease, { dueAt: null, reason: 'odd' })],
    [
      'is to be tried again',
      (store: Store, run: ClaimedRun) =>
        store.postponeRun(run.lease, { dueAt: NOW + 1e6, error: { name: 'Error', message: 'no' } }),
    ],
    ['is canceled', (store: Store, run: ClaimedRun) => store.cancelRun(run.lease.runId, 'by hand', NOW)],
  ])('when a run %s, the same commit admits exactly one run', async (_how, end) => {
    const { store, reopen } = await open()
    const first = await arrive(store, 'evt_1')
    await askAdmission(store, first, { gates: [concurrency] })
    const others = [await arrive(store, 'evt_2'), await arrive(store, 'evt_3')]
    for (const run of others) await askAdmission(store, run, { gates: [concurrency] })
    await end(store, first)
    const [second, third] = others.map((run) => run.lease.runId)
    expect(await (await reopen()).findRun(second ?? '')).toMatchObject({
      status: 'pending',
      reason: null,
      isInLine: false,
    })
    expect(await store.findRun(third ?? '')).toMatchObject({ status: 'waiting', isInLine: true })
  })

  test('the next in line at a throttle has a moment once the run before it has started by a claim', async () => {
    const { store } = await open()
    const [first, second] = [await arrive(store, 'evt_1'), await arrive(store, 'evt_2')]
    // It has the only place and has not started: the throttle opens after its time at least.
    expect(await askAdmission(store, first, { mayStart: false, gates: [throttle] })).toEqual({ kind: 'ready' })
    expect(await askAdmission(store, second, { gates: [throttle] })).toMatchObject({ kind: 'queued', dueAt: NOW + 100 })
    expect((await store.claimRuns('wrk_1', 9, NOW + 5)).map(({ lease }) => lease.runId)).toEqual([first.lease.runId])
    expect(await store.findRun(second.lease.runId)).toMatchObject({ status: 'waiting', dueAt: NOW + 5 + 100 })
  })

  test('a run that has started passes no throttle again, even from a line', async ({ store }) => {
    const gates = [throttle, concurrency]
    const first = await arrive(store, 'evt_1')
    await askAdmission(store, first, { gates })
    await store.parkRun(first.lease, { dueAt: NOW + 150, reason: 'sleeps' })
    const second = await arrive(store, 'evt_2', NOW + 100)
    await askAdmission(store, second, { gates }, NOW + 100)
    const back = await claimNext(store, NOW + 150)
    expect(await askAdmission(store, back, { gates, hasStarted: true }, NOW + 150)).toMatchObject({ kind: 'queued' })
    await store.completeRun(second.lease, 'null', NOW + 151)
    expect(await store.findRun(first.lease.runId)).toMatchObject({ status: 'pending', isInLine: false })
  })

  test('a singleton that cancels ends the older run and refuses its writes', async ({ store }) => {
    const older = await arrive(store, 'evt_1')
    const part = { gates: [singleton], onConflict: 'cancel' } as const
    await askAdmission(store, older, part)
    const newer = await arrive(store, 'evt_2')
    expect(await store.admitRun(newer.lease, planAdmission(part), NOW)).toEqual({
      verdict: { kind: 'admitted', startedAt: NOW, folded: 0 },
      canceled: [older.lease.runId],
    })
    await expect(store.completeRun(older.lease, 'null', NOW)).rejects.toMatchObject({ code: 'stale_lease' })
    const reason = `singleton: replaced by ${newer.lease.runId}`
    expect(await store.findRun(older.lease.runId)).toMatchObject({ status: 'canceled', reason })
  })

  test('a singleton never cancels a newer run for an older one', async ({ store }) => {
    await queueRun(store, 'evt_1')
    await queueRun(store, 'evt_2')
    const [older, newer] = await store.claimRuns('wrk_1', 2, NOW)
    if (!older || !newer) throw new Error('two runs were queued')
    const part = { gates: [singleton], onConflict: 'cancel' } as const
    await askAdmission(store, newer, part)
    expect(await askAdmission(store, older, part)).toMatchObject({ kind: 'canceled' })
    expect(await store.findRun(newer.lease.runId)).toMatchObject({ status: 'running' })
  })

  test('a singleton replaces a chain that began before a run, though its last run is newer', async ({ store }) => {
    const part = { gates: [singleton], onConflict: 'cancel' } as const
    const first = await arrive(store, 'evt_1')
    await askAdmission(store, first, part)
    const newer = await arrive(store, 'evt_2', NOW + 1)
    const successor = { account: 'default', input: '{}', received: {} }
    const [second, third] = [newId('run', NOW + 2), newId('run', NOW + 3)]
    await store.continueRun(first.lease, { ...successor, run: second }, NOW + 2)
    await store.continueRun((await claimNext(store, NOW + 2)).lease, { ...successor, run: third }, NOW + 3)
    const { verdict, canceled } = await store.admitRun(newer.lease, planAdmission(part), NOW + 4)
    expect([verdict.kind, canceled]).toEqual(['admitted', [third]])
  })

  test('a singleton keeps a chain that began after a run', async ({ store }) => {
    const part = { gates: [singleton], onConflict: 'cancel' } as const
    const older = await arrive(store, 'evt_1')
    const first = await arrive(store, 'evt_2', NOW + 1)
    await askAdmission(store, first, part)
    const run = newId('run', NOW + 2)
    await store.continueRun(first.lease, { run, account: 'default', input: '{}', received: {} }, NOW + 2)
    expect(await askAdmission(store, older, part, NOW + 3)).toMatchObject({ kind: 'canceled' })
    expect(await store.findRun(run)).toMatchObject({ status: 'pending' })
  })

  test('a run that an old run invokes now replaces the holder of a singleton', async ({ store }) => {
    const part = { gates: [singleton], onConflict: 'cancel' } as const
    await queueRun(store, 'evt_1', 'parent')
    const parent = await claimNext(store)
    const holder = await arrive(store, 'evt_2', NOW + 1)
    await askAdmission(store, holder, part)
    const run = deriveRunId(parent.lease.runId, 'step')
    const invoke = { run, workflow: 'follow-up', account: 'default', input: '{}', createdAt: NOW + 2 }
    const step = checkpoint('step', { kind: 'invoke', status: 'waiting', finishedAt: null, output: null, target: run })
    await store.saveCheckpoint(parent.lease, step, undefined, { invoke })
    const { verdict, canceled } = await store.admitRun(
      (await claimNext(store, NOW + 2)).lease,
      planAdmission(part),
      NOW + 2,
    )
    expect([verdict.kind, canceled]).toEqual(['admitted', [holder.lease.runId]])
  })

  test('a singleton keeps its key while its run sleeps, until the run ends', async ({ store }) => {
    const first = await arrive(store, 'evt_1')
    await askAdmission(store, first, { gates: [singleton] })
    await store.parkRun(first.lease, { dueAt: NOW + 10, reason: 'sleeps' })
    expect(await askAdmission(store, await arrive(store, 'evt_2'), { gates: [singleton] })).toEqual({
      kind: 'skipped',
      reason: `singleton: ${first.lease.runId} is unfinished`,
    })
    const back = await claimNext(store, NOW + 10)
    expect(await askAdmission(store, back, { hasStarted: true, gates: [singleton] }, NOW + 10)).toMatchObject({
      kind: 'admitted',
    })
    await store.completeRun(back.lease, 'null', NOW + 11)
    expect(await askAdmission(store, await arrive(store, 'evt_3'), { gates: [singleton] })).toMatchObject({
      kind: 'admitted',
    })
  })

  test('a run that left the line of a singleton to wait for a person holds up nobody behind it', async ({ store }) => {
    const rule = { gates: [singleton], onConflict: 'queue', wakeAt: NOW + 100 } as const
    const first = await arrive(store, 'evt_1')
    expect(await askAdmission(store, first, rule)).toMatchObject({ kind: 'admitted' })
    const second = await arrive(store, 'evt_2')
    expect(await askAdmission(store, second, rule)).toMatchObject({ kind: 'queued' })
    const [again] = await store.claimRuns('wrk_1', 1, NOW + 100)
    expect(again?.lease.runId).toBe(second.lease.runId)
    if (again) await store.parkRun(again.lease, { dueAt: null, reason: 'its `where` threw', hasNotStarted: true })
    await store.completeRun(first.lease, 'null', NOW + 200)
    const third = await arrive(store, 'evt_3', NOW + 300)
    expect(await askAdmission(store, third, { ...rule, wakeAt: null }, NOW + 300)).toMatchObject({ kind: 'admitted' })
  })

  test('a run that asks for its admission too late is canceled', async ({ store }) => {
    const run = await arrive(store, 'evt_1')
    expect(await askAdmission(store, run, { startBy: NOW + 10 }, NOW + 10)).toMatchObject({ kind: 'canceled' })
    expect(await store.findRun(run.lease.runId)).toMatchObject({
      status: 'canceled',
      startedAt: null,
      finishedAt: NOW + 10,
      reason: 'timeout: it had not started by 2026-06-01T12:00:00.010Z',
    })
  })

  test('unadmitted runs are claimed before all others, and can be claimed alone', async ({ store }) => {
    await queueRun(store, 'evt_1', 'plain')
    const priorities = { limited: UNADMITTED_PRIORITY }
    await store.saveDelivery(incoming('evt_2', { workflows: ['limited'], priorities }))
    const [unseen] = await store.claimUnadmittedRuns('wrk_1', 10, NOW)
    if (!unseen) throw new Error('a run was to be looked at')
    expect(unseen).toMatchObject({ workflow: 'limited' })
    expect(await store.claimUnadmittedRuns('wrk_1', 10, NOW)).toEqual([])
    await askAdmission(store, unseen, { priority: -3, mayStart: false })
    const claimed = await store.claimRuns('wrk_1', 10, NOW)
    expect(claimed.map((run) => [run.workflow, run.isAdmitted])).toEqual([
      ['plain', false],
      ['limited', true],
    ])
  })

  test('a run that is parked before its code ran has not started', async ({ store }) => {
    const run = await arrive(store, 'evt_1')
    await store.parkRun(run.lease, { dueAt: NOW + 1, reason: 'no module', hasNotStarted: true })
    expect(await store.findRun(run.lease.runId)).toMatchObject({ startedAt: null })
    expect(await claimNext(store, NOW + 1)).toMatchObject({ startedAt: NOW + 1 })
  })
})
