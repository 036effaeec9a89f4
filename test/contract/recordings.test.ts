import { expect } from 'vitest'
import { checkpoint, NOW, queueRun } from '../support/fixtures.ts'
import { describeStores } from './describe-stores.ts'
import { claimNext } from './support/claim-next.ts'
import { invoke } from './support/waiting-runs.ts'

describeStores((test) => {
  test('a recording is the run as its worker got it, with its journal', async ({ store }) => {
    await queueRun(store)
    const claimed = await claimNext(store)
    const steps = [
      checkpoint('a'),
      checkpoint('b', { position: 1, status: 'failed', error: { name: 'E', message: 'm' } }),
    ]
    for (const step of steps) await store.saveCheckpoint(claimed.lease, step, undefined, { codeHash: 'first' })
    const run = await store.findRun(claimed.lease.runId)
    const { runId, fence } = claimed.lease
    const lease = { runId, fence, worker: '' }
    const claim = { ...claimed, lease, codeHash: 'first' }
    expect(await store.readRecordings([claimed.lease.runId])).toEqual([{ run, claim, steps }])
  })

  test('recordings of ticks and invocations have their cause, and nothing is claimed', async ({ store }) => {
    await queueRun(store)
    const parent = await claimNext(store)
    const tick = await store.recordTick('nightly', { scheduledFor: NOW, missed: 2 }, NOW)
    const child = 'run_child'
    await invoke(store, parent.lease, { run: child, input: '{"n":1}' })
    const read = await store.readRecordings([child, 'run_unknown', tick ?? ''])
    expect(read.map(({ claim }) => claim.cause)).toMatchObject([
      { kind: 'call', account: 'default', input: '{"n":1}', parentRun: parent.lease.runId },
      { kind: 'tick', account: 'default', scheduledFor: NOW, missed: 2 },
    ])
    expect(read[0]?.claim.cause).toMatchObject({ root: { kind: 'event', event: 'evt_1' } })
    expect(read.map(({ run }) => run.status)).toEqual(['pending', 'pending'])
    expect(await store.claimRuns('wrk_2', 9, NOW)).toHaveLength(2)
  })
})
