import { expect } from 'vitest'
import { NOW } from '../support/fixtures.ts'
import { describeStores } from './describe-stores.ts'
import { arrive, askAdmission, planAdmission, singleton } from './support/ask-admission.ts'
import { addEvent, claimLease, match, WAIT } from './support/waiting-runs.ts'

const HOUR_MS = 3_600_000

describeStores((test, open) => {
  test('a run that its cancelOn canceled cannot be retried', async ({ store }) => {
    const lease = await claimLease(store)
    await store.watchRun(lease, [WAIT], NOW)
    const seq = await addEvent(store, 'evt_2')
    await match(store, { [seq]: 'fil_1' })
    expect(await store.findRun(lease.runId)).toMatchObject({ status: 'canceled', isCanceledByRule: true })
    expect(await store.retryRun(lease.runId, NOW)).toBe(false)
  })

  test('a run that did not start in time cannot be retried', async ({ store }) => {
    const run = await arrive(store, 'evt_1')
    await askAdmission(store, run, { startBy: NOW })
    expect(await store.findRun(run.lease.runId)).toMatchObject({ status: 'canceled', isCanceledByRule: true })
    expect(await store.retryRun(run.lease.runId, NOW)).toBe(false)
  })

  test('a run that a newer singleton replaced cannot be retried', async ({ store }) => {
    const older = await arrive(store, 'evt_1')
    const newer = await arrive(store, 'evt_2')
    const plan = { gates: [singleton], onConflict: 'cancel' } as const
    await askAdmission(store, older, plan)
    const { canceled } = await store.admitRun(newer.lease, planAdmission(plan), NOW)
    expect(canceled).toEqual([older.lease.runId])
    expect(await store.retryRun(older.lease.runId, NOW)).toBe(false)
  })

  test('a failed run can be retried only before its deadline, by the present timeout of its workflow', async () => {
    const { store } = await open()
    const lease = await claimLease(store)
    await store.failRun(lease, { name: 'Error', message: 'no' }, NOW)
    const load = (runTimeoutMs: number) =>
      store.saveWorkflows(
        {
          workflows: [{ id: 'follow-up', file: 'a.workflow.ts', eventTypes: ['*'], schedule: null, runTimeoutMs }],
          broken: [],
        },
        NOW,
      )
    await load(HOUR_MS)
    expect(await store.findRun(lease.runId)).toMatchObject({ deadline: NOW + HOUR_MS })
    expect(await store.retryRun(lease.runId, NOW + HOUR_MS)).toBe(false)
    expect(await store.findRun(lease.runId)).toMatchObject({ status: 'failed' })
    await load(2 * HOUR_MS)
    expect(await store.retryRun(lease.runId, NOW + HOUR_MS)).toBe(true)
  })
})
