import { expect } from 'vitest'
import type { Lease } from '../../src/core/runs/lease.ts'
import { NOW } from '../support/fixtures.ts'
import { describeStores } from './describe-stores.ts'
import { claimNext } from './support/claim-next.ts'
import { addEvent, claimLease, match, PARK, statusOf, WAIT, WAITING, waitingRun } from './support/waiting-runs.ts'

describeStores((test) => {
  test('an event wakes the parked run whose value matches, once', async ({ store }) => {
    const lease = await waitingRun(store)
    const other = await waitingRun(store, { value: 'fil_2' })
    const foreign = await waitingRun(store, { account: 'other' })
    const seq = await addEvent(store, 'evt_fits')
    expect(await store.findMatch(lease.runId, 'moved')).toBeNull()
    expect(await match(store, { [seq]: 'fil_1' })).toEqual({ resolved: 1, canceled: [] })
    expect(await store.findMatch(lease.runId, 'moved')).toMatchObject({ id: 'evt_fits' })
    expect([await statusOf(store, lease), await statusOf(store, other), await statusOf(store, foreign)]).toEqual([
      'pending',
      'waiting',
      'waiting',
    ])
    const [run] = await store.claimRuns('wrk_1', 5, NOW)
    expect(run).toMatchObject({ lease: { runId: lease.runId }, isFirstPass: false })
  })

  test('an event counts that ends another wait of a pending run: a claim may have skipped its locked row', async ({
    store,
  }) => {
    const lease = await claimLease(store)
    for (const [key, value] of [
      ['moved', 'fil_1'],
      ['other', 'fil_2'],
    ] as const)
      await store.saveCheckpoint(lease, { ...WAITING, key }, undefined, { wait: { ...WAIT, value } })
    await store.parkRun(lease, { ...PARK, awaits: ['moved', 'other'] })
    const first = await addEvent(store, 'evt_first')
    expect(await match(store, { [first]: 'fil_1' })).toMatchObject({ resolved: 1 })
    const second = await addEvent(store, 'evt_second')
    expect(await match(store, { [second]: 'fil_2' })).toMatchObject({ resolved: 1 })
  })

  test('a run that was claimed at its moment is not woken later by its old wait', async ({ store }) => {
    const lease = await waitingRun(store)
    const [again] = await store.claimRuns('wrk_1', 1, NOW + 1_000)
    if (!again) throw new Error('it was due')
    await store.parkRun(again.lease, { dueAt: null, reason: 'for a person' })
    const seq = await addEvent(store, 'evt_fits')
    await match(store, { [seq]: 'fil_1' })
    expect(await statusOf(store, lease)).toBe('waiting')
  })

  test('a wait since the run counts events from before the wait, another wait does not', async ({ store }) => {
    const early = await claimLease(store, 'evt_early')
    const late = await claimLease(store, 'evt_late')
    const seq = await addEvent(store, 'evt_between')
    await store.saveCheckpoint(early, WAITING, undefined, { wait: WAIT })
    await store.saveCheckpoint(late, WAITING, undefined, { wait: { ...WAIT, since: 'run' } })
    for (const lease of [early, late]) await store.parkRun(lease, PARK)
    expect(await match(store, { [seq]: 'fil_1' })).toMatchObject({ resolved: 1 })
    expect([await statusOf(store, early), await statusOf(store, late)]).toEqual(['waiting', 'pending'])
  })

  test('a wait after events counts those that were stored after the newest of them', async ({ store }) => {
    const lease = await claimLease(store, 'evt_of_run')
    const other = await claimLease(store, 'evt_of_other')
    const first = await addEvent(store, 'evt_first')
    const second = await addEvent(store, 'evt_second')
    const after = ['evt_first', 'evt_second', 'evt_that_was_pruned']
    await store.saveCheckpoint(lease, WAITING, undefined, { wait: { ...WAIT, since: { after } } })
    await store.saveCheckpoint(other, WAITING, undefined, { wait: { ...WAIT, since: { after: ['evt_unknown'] } } })
    for (const each of [lease, other]) await store.parkRun(each, PARK)
    await match(store, { [first]: 'fil_1', [second]: 'fil_1' })
    expect([await statusOf(store, lease), await statusOf(store, other)]).toEqual(['waiting', 'pending'])
    const third = await addEvent(store, 'evt_third')
    await match(store, { [third]: 'fil_1' })
    expect(await store.findMatch(lease.runId, 'moved')).toMatchObject({ id: 'evt_third' })
    expect(await store.findMatch(other.runId, 'moved')).toMatchObject({ id: 'evt_first' })
  })

  test('a wait that is settled and opened again in one commit waits anew', async ({ store }) => {
    const lease = await waitingRun(store, {}, false)
    const seq = await addEvent(store, 'evt_first')
    await match(store, { [seq]: 'fil_1' })
    const wait = { ...WAIT, since: { after: ['evt_first'] } }
    await store.saveCheckpoint(lease, WAITING, undefined, { isSettled: true, wait })
    expect(await store.findMatch(lease.runId, 'moved')).toBeNull()
    await store.parkRun(lease, PARK)
    expect(await statusOf(store, lease)).toBe('waiting')
  })

  test('a wait since the run finds the first of several matched events at once', async ({ store }) => {
    const lease = await claimLease(store, 'evt_early')
    await waitingRun(store, { value: 'something else' })
    const first = await addEvent(store, 'evt_first')
    const second = await addEvent(store, 'evt_second')
    await match(store, { [first]: 'fil_1', [second]: 'fil_1' })
    const { cursors } = await store.listMatchCursors()
    await store.saveCheckpoint(lease, WAITING, undefined, { wait: { ...WAIT, since: 'run' } })
    const later = (await store.listMatchCursors()).cursors
    // The run is older than the cursor, so all events since then are matched again, in order.
    expect(later[0]?.position).toBeLessThan(cursors[0]?.position ?? 0)
    await match(store, { [first]: 'fil_1', [second]: 'fil_1' })
    expect(await store.findMatch(lease.runId, 'moved')).toMatchObject({ id: 'evt_first' })
    const younger = await claimLease(store, 'evt_younger')
    const third = await addEvent(store, 'evt_third')
    await addEvent(store, 'evt_fourth')
    await match(store, { [third]: 'fil_1', [third + 1]: 'fil_1' })
    await store.saveCheckpoint(younger, WAITING, undefined, { wait: { ...WAIT, since: 'run' } })
    expect(await store.findMatch(younger.runId, 'moved')).toMatchObject({ id: 'evt_third' })
  })

  test('an event of cancelOn cancels the run and is named in the reason', async ({ store }) => {
    const lease = await claimLease(store)
    expect(await store.watchRun(lease, [{ ...WAIT, since: 'run' }], NOW)).toBe(true)
    expect(await store.watchRun(lease, [{ ...WAIT, since: 'run' }], NOW)).toBe(true)
    const seq = await addEvent(store, 'evt_end')
    const reason = `canceled by event evt_${seq} (file.moved)`
    expect(await match(store, { [seq]: 'fil_1' })).toEqual({
      resolved: 0,
      canceled: [{ run: lease.runId, workflow: 'follow-up', reason }],
    })
    expect(await store.findRun(lease.runId)).toMatchObject({ status: 'canceled', reason })
    await expect(store.completeRun(lease, 'null', NOW)).rejects.toMatchObject({ code: 'stale_lease' })
  })

  test('a run whose cancelOn event is already matched is canceled at once', async ({ store }) => {
    await waitingRun(store, { value: 'something else' })
    const lease = await claimLease(store)
    const seq = await addEvent(store, 'evt_end')
    await match(store, { [seq]: 'fil_1' })
    expect(await store.watchRun(lease, [{ ...WAIT, since: 'run' }], NOW)).toBe(false)
    expect(await store.findRun(lease.runId)).toMatchObject({
      status: 'canceled',
      reason: expect.stringContaining('evt_end'),
    })
    expect(await store.watchRun({ ...lease, fence: 99 }, [WAIT], NOW)).toBe(false)
  })

  test('a successor is canceled by an event that its predecessor had not matched, and by none before it', async ({
    store,
  }) => {
    for (const [value, status] of [
      ['fil_seen', 'running'],
      ['fil_late', 'canceled'],
    ] as const) {
      const first = await claimLease(store, `evt_of_${value}`)
      expect(await store.watchRun(first, [{ ...WAIT, value: `before ${value}`, since: 'run' }], NOW)).toBe(true)
      const seen = await addEvent(store, `evt_seen_${value}`)
      await match(store, { [seen]: 'fil_seen' })
      const late = await addEvent(store, `evt_late_${value}`)
      const run = `run_second_${value}`
      await store.continueRun(first, { run, account: 'default', input: '2', received: {} }, NOW)
      const second = await claimNext(store)
      expect(second.lease.runId).toBe(run)
      const cancels = [{ ...WAIT, value, since: 'run' as const }]
      expect(await store.watchRun(second.lease, cancels, NOW)).toBe(true)
      await match(store, { [late]: 'fil_late' })
      expect(await statusOf(store, second.lease)).toBe(status)
    }
  })

  test('the waits of a run are deleted when it ends', async ({ store }) => {
    const ends = [
      (lease: Lease) => store.completeRun(lease, 'null', NOW),
      (lease: Lease) => store.failRun(lease, { name: 'Error', message: 'no' }, NOW),
      (lease: Lease) => store.skipRun(lease, 'no', NOW),
      (lease: Lease) => store.cancelRun(lease.runId, 'no', NOW),
      (lease: Lease) => store.saveCheckpoint(lease, WAITING, undefined, { isSettled: true }),
    ]
    for (const end of ends) {
      const lease = await waitingRun(store, {}, false)
      expect((await store.listMatchCursors()).cursors).toMatchObject([{ isOpen: true }])
      await end(lease)
      expect((await store.listMatchCursors()).cursors).toMatchObject([{ isOpen: false }])
    }
  })
})
