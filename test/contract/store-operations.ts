import { expect, test } from 'vitest'
import type { Lease } from '../../src/core/runs/lease.ts'
import type { Store } from '../../src/core/store/store.ts'
import { checkpoint, incoming, NOW, queueRun } from '../support/fixtures.ts'
import type { OpenStore } from './open-store.ts'

const ERROR = { name: 'Error', message: 'no luck', step: 'b' }

async function claimOne(store: Store, now = NOW): Promise<Lease> {
  const [run] = await store.claimRuns('wrk_1', 1, now)
  if (!run) throw new Error('a run was queued')
  return run.lease
}

/** A run that finished step a and failed at step b. */
async function failedRun(store: Store, followUp = false): Promise<Lease> {
  await queueRun(store)
  const lease = await claimOne(store)
  await store.saveCheckpoint(lease, checkpoint('a', { output: '"from a"' }))
  const failed = checkpoint('b', {
    position: 1,
    status: 'failed',
    attempt: 4,
    output: null,
    error: ERROR,
    startedAt: NOW + 1,
  })
  await store.saveCheckpoint(lease, failed, { key: 'b', attempt: 4, at: NOW, error: ERROR })
  await store.failRun(lease, ERROR, NOW + 5, followUp)
  return lease
}

export function describeOperations(open: OpenStore): void {
  test('takes a failed run up again: finished steps are kept, the failed one is to be done again', async () => {
    const { store } = open()
    const lease = await failedRun(store)
    expect(await store.retryRun(lease.runId)).toBe(true)
    expect(await store.findRun(lease.runId)).toMatchObject({ status: 'pending', finishedAt: null, attempt: 0 })
    expect(await store.listSteps(lease.runId)).toMatchObject([
      { key: 'a', status: 'completed', output: '"from a"' },
      { key: 'b', status: 'waiting', attempt: 0, position: 1, dueAt: null },
    ])
    expect(await store.listStepFailures(lease.runId)).toHaveLength(1)
    expect(await store.retryRun(lease.runId)).toBe(false)
    const again = await claimOne(store, NOW + 12)
    expect(again.fence).toBeGreaterThan(lease.fence)
    await expect(store.completeRun(lease, 'null', NOW)).rejects.toMatchObject({ code: 'stale_lease' })
  })

  test('takes a canceled run up again, and no run that completed or is at work', async () => {
    const { store } = open()
    const id = await queueRun(store)
    expect(await store.retryRun(id)).toBe(false)
    await store.cancelRun(id, 'by hand', NOW)
    expect(await store.retryRun(id)).toBe(true)
    expect(await store.findRun(id)).toMatchObject({ status: 'pending', reason: null })
    await store.completeRun(await claimOne(store), 'null', NOW)
    expect(await store.retryRun(id)).toBe(false)
    expect(await store.retryRun('run_none')).toBe(false)
  })

  test('starts what follows a failure in the commit that fails the run, once, and nothing after it', async () => {
    const { store } = open()
    const lease = await failedRun(store, true)
    const [follow, ...rest] = await store.listRuns({ limit: 10, originRun: lease.runId })
    expect(rest).toEqual([])
    expect(follow).toMatchObject({
      handler: 'onFailure',
      origin: 'failure',
      eventId: 'evt_1',
      status: 'pending',
      error: null,
    })
    const [claimed] = await store.claimRuns('wrk_1', 10, NOW + 6)
    expect(claimed).toMatchObject({
      handler: 'onFailure',
      failure: ERROR,
      cause: { kind: 'event', event: { id: 'evt_1' } },
    })
    if (claimed) await store.failRun(claimed.lease, ERROR, NOW + 7, true)
    expect(await store.listRuns({ limit: 10, origin: 'failure' })).toHaveLength(1)
  })

  test('resumes a run that waits for a person, with its steps or from scratch', async () => {
    const { store } = open()
    const id = await queueRun(store)
    expect(await store.resumeRun(id, { fromScratch: false })).toBe(false)
    for (const fromScratch of [false, true]) {
      const lease = await claimOne(store)
      await store.saveCheckpoint(lease, checkpoint('a'))
      await store.parkRun(lease, { dueAt: null, reason: 'its filter threw' })
      expect(await store.resumeRun(id, { fromScratch })).toBe(true)
      expect(await store.findRun(id)).toMatchObject({ status: 'pending', reason: null })
      expect(await store.listSteps(id)).toHaveLength(fromScratch ? 0 : 1)
    }
    const lease = await claimOne(store)
    await store.parkRun(lease, { dueAt: NOW + 1, reason: 'sleeps' })
    expect(await store.resumeRun(id, { fromScratch: false })).toBe(false)
  })

  test('forks a run with copies of finished steps and a result given by hand; the first run stays as it was', async () => {
    const { store } = open()
    const { runId } = await failedRun(store)
    const before = [await store.findRun(runId), await store.listSteps(runId)]
    const id = await store.forkRun(runId, { keys: ['a'], edited: { key: 'b', output: '"by hand"' } }, NOW + 20)
    expect(await store.findRun(id)).toMatchObject({
      origin: 'fork',
      originRun: runId,
      status: 'pending',
      eventId: 'evt_1',
    })
    expect(await store.listSteps(id)).toMatchObject([
      { key: 'a', output: '"from a"' },
      { key: 'b', status: 'completed', output: '"by hand"', error: null, attempt: 1 },
    ])
    expect([await store.findRun(runId), await store.listSteps(runId)]).toEqual(before)
    // Its journal is read: its first pass is not taken for one without.
    expect(await store.claimRuns('wrk_1', 1, NOW + 20)).toMatchObject([{ lease: { runId: id }, isFirstPass: false }])
  })

  test('refuses a fork with a step that is not there, and leaves nothing of it', async () => {
    const { store } = open()
    const { runId } = await failedRun(store)
    const fork = store.forkRun(runId, { keys: ['a', 'gone'], edited: null }, NOW)
    await expect(fork).rejects.toMatchObject({ code: 'not_found' })
    await expect(store.forkRun('run_none', { keys: [], edited: null }, NOW)).rejects.toMatchObject({
      code: 'not_found',
    })
    expect(await store.listRuns({ limit: 10 })).toHaveLength(1)
  })

  test('replays an event as new runs that go back to the ones before; the event stays one', async () => {
    const { store } = open()
    const { runs } = await store.saveDelivery(incoming('evt_1', { workflows: ['one'] }))
    const replayed = await store.replayEvent({ id: 'evt_1', account: 'default' }, ['one', 'two'], NOW + 9)
    expect(await store.findRun(replayed[0] ?? '')).toMatchObject({
      origin: 'replay',
      originRun: runs[0],
      eventId: 'evt_1',
    })
    expect(await store.findRun(replayed[1] ?? '')).toMatchObject({ workflow: 'two', originRun: null })
    expect(await store.listEvents({ limit: 10 })).toHaveLength(1)
    expect((await store.saveDelivery(incoming('evt_1'))).verdict).toBe('duplicate')
    const unknown = store.replayEvent({ id: 'evt_2', account: 'default' }, ['one'], NOW)
    await expect(unknown).rejects.toMatchObject({ code: 'not_found' })
    const elsewhere = store.replayEvent({ id: 'evt_1', account: 'other' }, ['one'], NOW)
    await expect(elsewhere).rejects.toMatchObject({ code: 'not_found' })
  })

  test('lists runs by time, origin and page, and events by time and page', async () => {
    const { store } = open()
    const ids: string[] = []
    for (const n of [0, 1, 2, 3]) {
      const { runs } = await store.saveDelivery(incoming(`evt_${n}`, { receivedAt: NOW + n }))
      ids.unshift(runs[0] ?? '')
    }
    expect((await store.listRuns({ limit: 10, since: NOW + 1, until: NOW + 3 })).map(({ id }) => id)).toEqual(
      ids.slice(1, 3),
    )
    expect((await store.listRuns({ limit: 2, before: ids[0] ?? '' })).map(({ id }) => id)).toEqual(ids.slice(1, 3))
    expect(await store.listRuns({ limit: 10, origin: 'replay' })).toEqual([])
    const [newest, second] = await store.listEvents({ limit: 2, until: NOW + 3 })
    expect([newest?.id, second?.id]).toEqual(['evt_2', 'evt_1'])
    expect(await store.listEvents({ limit: 9, since: NOW + 1, before: newest?.seq ?? 0 })).toMatchObject([
      { id: 'evt_1' },
    ])
  })

  test('tells a worker which leases it still has', async () => {
    const { store, reopen } = open()
    await queueRun(store, 'evt_1')
    await queueRun(store, 'evt_2')
    const [a, b] = await store.claimRuns('wrk_1', 2, NOW)
    await reopen().cancelRun(a?.lease.runId ?? '', 'by hand', NOW)
    expect(await store.listLeases('wrk_1')).toEqual([{ runId: b?.lease.runId, fence: 1 }])
  })

  test('notices that anyone has written', async () => {
    const { store, reopen } = open()
    const other = reopen()
    const counts = [await store.changeCount(), await store.changeCount()]
    expect(counts[0]).toBe(counts[1])
    await queueRun(other)
    const third = await store.changeCount()
    await queueRun(store, 'evt_2')
    expect(new Set([counts[0], third, await store.changeCount()]).size).toBe(3)
  })
}
