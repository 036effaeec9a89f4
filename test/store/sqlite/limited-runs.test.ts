import { expect, test } from 'vitest'
import { LimitedRuns } from '../../../src/store/limited-runs.ts'
import { arrive, askAdmission, concurrency } from '../../contract/support/ask-admission.ts'
import { checkpoint, NOW, queueRun } from '../../support/fixtures.ts'
import { openTestStore } from '../../support/test-store.ts'

test('a run that holds a slot ends before the steps of many others are saved, its own before its end', async () => {
  const store = openTestStore()
  const limited = await arrive(store, 'evt_limited')
  await askAdmission(store, limited, { gates: [concurrency] })
  await queueRun(store, 'evt_other')
  const [other] = await store.claimRuns('wrk_1', 1, NOW)
  if (!other) throw new Error('nothing was claimed')
  let saved = 0
  const steps = Array.from({ length: 2_000 }, async (_, n) => {
    await store.saveCheckpoint(other.lease, checkpoint(`step-${n}`))
    saved += 1
  })
  const own = store.saveCheckpoint(limited.lease, checkpoint('own'))
  await store.completeRun(limited.lease, 'null', NOW)
  expect(saved).toBeLessThan(2_000)
  await Promise.all([...steps, own])
  expect(saved).toBe(2_000)
})

test('a run that was taken over is forgotten with the write that is refused', async () => {
  const limited = new LimitedRuns()
  const store = limited.watchAll(openTestStore())
  const run = await arrive(store as never, 'evt_1')
  await askAdmission(store as never, run, { gates: [concurrency] })
  expect(limited.isEmpty).toBe(false)
  await store.cancelRun(run.lease.runId, 'by hand', NOW)
  await expect(store.saveCheckpoint(run.lease, checkpoint('late'))).rejects.toMatchObject({ code: 'stale_lease' })
  expect(limited.isEmpty).toBe(true)
})

test.each(['cancelRun', 'stopWorker'] as const)(
  'runs are forgotten with %s, after which none of them writes',
  async (name) => {
    const limited = new LimitedRuns()
    const store = limited.watchAll(openTestStore())
    const { lease } = await arrive(store as never, 'evt_1')
    await askAdmission(store as never, { lease } as never, { gates: [concurrency] })
    expect(limited.isEmpty).toBe(false)
    await (name === 'cancelRun' ? store.cancelRun(lease.runId, 'timed out', NOW) : store.stopWorker(lease.worker))
    expect(limited.isEmpty).toBe(true)
  },
)
