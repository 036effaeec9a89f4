import { expect } from 'vitest'
import { newId } from '../../src/core/ids.ts'
import type { Lease } from '../../src/core/runs/lease.ts'
import type { Store } from '../../src/core/store/store.ts'
import { checkpoint, incoming, NOW, queueRun } from '../support/fixtures.ts'
import { describeStores } from './describe-stores.ts'
import { claimNext } from './support/claim-next.ts'

const ERROR = { name: 'Error', message: 'no luck', step: 'b' }

async function claimOne(store: Store, now = NOW): Promise<Lease> {
  return (await claimNext(store, now)).lease
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

describeStores((test, open) => {
  test('a retry of a failed run keeps finished steps and repeats the failed one', async ({ store }) => {
    const lease = await failedRun(store)
    expect(await store.retryRun(lease.runId, NOW)).toBe(true)
    expect(await store.findRun(lease.runId)).toMatchObject({ status: 'pending', finishedAt: null, attempt: 0 })
    expect(await store.listSteps(lease.runId)).toMatchObject([
      { key: 'a', status: 'completed', output: '"from a"' },
      { key: 'b', status: 'waiting', attempt: 0, position: 1, dueAt: null },
    ])
    expect(await store.listStepFailures(lease.runId)).toHaveLength(1)
    expect(await store.retryRun(lease.runId, NOW)).toBe(false)
    const again = await claimOne(store, NOW + 12)
    // Above the next one: no worker goes on with what it has kept of the run.
    expect(again.fence).toBe(lease.fence + 2)
    await expect(store.completeRun(lease, 'null', NOW)).rejects.toMatchObject({ code: 'stale_lease' })
  })

  test('a retry keeps the error of a `once` step that had begun', async ({ store }) => {
    await queueRun(store)
    const lease = await claimOne(store)
    const error = { ...ERROR, once: true } as const
    await store.saveCheckpoint(lease, checkpoint('b', { status: 'failed', output: null, error }))
    await store.failRun(lease, ERROR, NOW + 5, false)
    expect(await store.retryRun(lease.runId, NOW)).toBe(true)
    expect(await store.listSteps(lease.runId)).toMatchObject([{ key: 'b', status: 'failed', error }])
  })

  test('a canceled run can be retried, a completed or unfinished one cannot', async ({ store }) => {
    const id = await queueRun(store)
    expect(await store.retryRun(id, NOW)).toBe(false)
    await store.cancelRun(id, 'by hand', NOW)
    expect(await store.retryRun(id, NOW)).toBe(true)
    expect(await store.findRun(id)).toMatchObject({ status: 'pending', reason: null })
    await store.completeRun(await claimOne(store), 'null', NOW)
    expect(await store.retryRun(id, NOW)).toBe(false)
    expect(await store.retryRun('run_none', NOW)).toBe(false)
  })

  test('the commit that fails a run starts one onFailure run, whose failure starts none', async ({ store }) => {
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

  test('a run that waits for a person is resumed with its steps or from scratch', async ({ store }) => {
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
    // Each time by two: no worker goes on with what it has kept of the run.
    expect(lease.fence).toBe(5)
    await store.parkRun(lease, { dueAt: NOW + 1, reason: 'sleeps' })
    expect(await store.resumeRun(id, { fromScratch: false })).toBe(false)
  })

  test('skipping a sleep makes a sleeping run due, and changes no run that does not sleep', async ({ store }) => {
    const id = await queueRun(store)
    expect(await store.skipSleep(id, NOW)).toBeNull()
    const lease = await claimOne(store)
    const asleep = { kind: 'sleep', status: 'waiting', finishedAt: null, output: null } as const
    await store.saveCheckpoint(lease, { ...checkpoint('long'), ...asleep, dueAt: NOW + 9_000 })
    await store.saveCheckpoint(lease, { ...checkpoint('short'), ...asleep, position: 1, dueAt: NOW + 5_000 })
    await store.parkRun(lease, { dueAt: NOW + 5_000, reason: 'sleeps in step "short"' })
    expect(await store.claimRuns('wrk_1', 10, NOW + 10)).toEqual([])
    expect(await store.skipSleep(id, NOW + 10)).toBe('short')
    expect(await store.listSteps(id)).toMatchObject([
      { key: 'long', dueAt: NOW + 9_000 },
      { key: 'short', dueAt: NOW + 10, status: 'waiting' },
    ])
    expect(await store.claimRuns('wrk_1', 10, NOW + 10)).toMatchObject([
      { lease: { runId: id, fence: lease.fence + 2 } },
    ])
    // A run at work is left to its worker.
    expect(await store.skipSleep(id, NOW + 11)).toBeNull()
  })

  test('a pause before the next attempt of a step is skipped like a sleep, and no other wait', async ({ store }) => {
    const id = await queueRun(store)
    const lease = await claimOne(store)
    const open = { status: 'waiting', finishedAt: null, output: null } as const
    const event = { ...checkpoint('event'), ...open, kind: 'wait', dueAt: NOW + 1_000 } as const
    const failed = { ...checkpoint('copy'), ...open, error: { name: 'Error', message: 'full' }, dueAt: NOW + 9_000 }
    await store.saveCheckpoint(lease, event)
    await store.saveCheckpoint(lease, { ...failed, position: 1 })
    await store.parkRun(lease, { dueAt: NOW + 1_000, reason: 'waits' })
    expect(await store.skipSleep(id, NOW + 10)).toBe('copy')
    expect(await store.listSteps(id)).toMatchObject([{ dueAt: NOW + 1_000 }, { dueAt: NOW + 10 }])
    expect(await store.claimRuns('wrk_1', 10, NOW + 10)).toMatchObject([{ lease: { runId: id } }])
  })

  test('a fork copies finished steps, takes an output by hand, and leaves its origin unchanged', async ({ store }) => {
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
    // A first pass would not read the journal.
    expect(await store.claimRuns('wrk_1', 1, NOW + 20)).toMatchObject([{ lease: { runId: id }, isFirstPass: false }])
  })

  test('a fork copies a `once` step that has begun, so that its end stays unknown there, too', async ({ store }) => {
    await queueRun(store)
    const lease = await claimOne(store)
    await store.saveCheckpoint(lease, checkpoint('pay', { status: 'started', output: null, finishedAt: null }))
    const id = await store.forkRun(lease.runId, { keys: ['pay'], edited: null }, NOW)
    expect(await store.listSteps(id)).toMatchObject([{ key: 'pay', status: 'started', finishedAt: null }])
  })

  test('a fork that names a missing step is refused and leaves nothing', async ({ store }) => {
    const { runId } = await failedRun(store)
    const fork = store.forkRun(runId, { keys: ['a', 'gone'], edited: null }, NOW)
    await expect(fork).rejects.toMatchObject({ code: 'not_found' })
    await expect(store.forkRun('run_none', { keys: [], edited: null }, NOW)).rejects.toMatchObject({
      code: 'not_found',
    })
    expect(await store.listRuns({ limit: 10 })).toHaveLength(1)
  })

  test('a slice of a replay makes the runs of its events once, audits each, and says what is gone', async () => {
    const { store } = await open()
    for (const n of [1, 2, 3]) await store.saveDelivery(incoming(`evt_${n}`, { workflows: [], receivedAt: NOW - n }))
    const plan = {
      id: newId('opr', NOW),
      filter: { until: NOW },
      perSecond: null,
      createdAt: NOW,
      kind: 'replay' as const,
      routes: [{ eventType: '*', workflow: 'one' }],
      operator: { actor: 'web:ada', role: 'operator' as const, from: '', reason: null },
    }
    await store.startBulk(plan)
    expect(await store.claimBulk('me', NOW)).toMatchObject({ kind: 'replay', routes: plan.routes })
    const whole = { id: plan.id, owner: 'me', after: null, next: null }
    const count = { total: 3, runs: 3, writes: 0, deletes: 0, first: [] }
    expect(await store.countBulk(whole, count, NOW)).toMatchObject({ status: 'running', count })
    const { items } = await store.walkEvents(plan.filter, { rows: 10, limit: 10, after: null })
    const targets = items.map(({ seq }) => String(seq))
    const slice = { ...whole, next: 'more', targets: targets.slice(0, 2) }
    expect(await store.performBulk(slice, NOW)).toEqual({ done: 2, refused: 0, isOver: false })
    expect(await store.performBulk(slice, NOW)).toBeNull()
    const last = { ...whole, after: 'more', targets: [...targets.slice(2), '987654321'] }
    expect(await store.performBulk(last, NOW)).toEqual({ done: 1, refused: 1, isOver: true })
    const runs = await store.listRuns({ limit: 10, origin: 'replay' })
    expect(runs.map(({ eventId }) => eventId).sort()).toEqual(['evt_1', 'evt_2', 'evt_3'])
    expect(await store.listBulkRefusals(plan.id)).toEqual([{ target: 'event number 987654321', why: 'it is gone' }])
    expect(await store.listActions({ limit: 9, action: 'event.replay' })).toMatchObject([
      { parameters: { operation: plan.id, account: 'default', workflows: ['one'] } },
      {},
      {},
    ])
  })

  test('an operation whose process died goes on after 10 s, also where the clock was set back', async ({ store }) => {
    const operator = { actor: 'ann', role: 'operator', from: '', reason: null } as const
    await store.startBulk({ id: 'opr_1', kind: 'cancel', filter: {}, operator, perSecond: null, createdAt: NOW })
    expect(await store.claimBulk('one', NOW)).toMatchObject({ id: 'opr_1' })
    expect(await store.claimBulk('two', NOW + 9_999)).toBeNull()
    expect(await store.claimBulk('two', NOW + 10_000)).toMatchObject({ id: 'opr_1' })
    expect(await store.claimBulk('one', NOW + 10_000)).toBeNull()
    expect(await store.claimBulk('one', NOW - 3_600_000)).toMatchObject({ id: 'opr_1' })
  })

  test('a replay makes new runs that name their earlier runs, and no new event', async ({ store }) => {
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
})
