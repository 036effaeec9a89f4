import { expect } from 'vitest'
import { cron } from '../../src/author/cron.ts'
import { MADE_TO_ACT_REASON, NO_MODULE_REASON, RECHECK_MS } from '../../src/core/runs/run.ts'
import type { LoadedWorkflows } from '../../src/core/runs/workflow-record.ts'
import { incoming, NOW, queueRun } from '../support/fixtures.ts'
import { describeStores } from './describe-stores.ts'

const verify = { id: 'verify', file: 'verify.workflow.ts', eventTypes: ['file.*', 'file.created'], schedule: null }
const nightly = { id: 'nightly', file: 'nightly.workflow.ts', eventTypes: [], schedule: cron('0 3 * * *') }
const loaded = (...workflows: LoadedWorkflows['workflows']): LoadedWorkflows => ({ workflows, broken: [] })

describeStores((test) => {
  test('routes are null until a process has loaded the workflows, and then shared', async ({ store, reopen }) => {
    const other = await reopen()
    expect(await other.listRoutes()).toBeNull()
    await store.saveWorkflows(loaded(verify, nightly), NOW)
    await new Promise(setImmediate)
    expect(await other.listRoutes()).toEqual([
      { eventType: 'file.*', workflow: 'verify' },
      { eventType: 'file.created', workflow: 'verify' },
    ])
    expect(await other.listWorkflows()).toMatchObject([
      { id: 'nightly', eventTypes: [], schedule: nightly.schedule },
      verify,
    ])
    const version = await store.readSetupVersion()
    await store.saveWorkflows(loaded(nightly, verify), NOW + 1)
    expect(await store.readSetupVersion()).toBe(version)
  })

  test('runs whose module was missing look again once modules are loaded, and no others do', async ({ store }) => {
    const later = NOW + RECHECK_MS
    const reasons = [`${NO_MODULE_REASON} "verify"`, MADE_TO_ACT_REASON, 'it sleeps']
    for (const index of reasons.keys()) await queueRun(store, `evt_${index}`, 'verify', NOW)
    const claimed = await store.claimRuns('wrk_1', 10, NOW)
    for (const [index, run] of claimed.entries()) {
      await store.parkRun(run.lease, { dueAt: later, reason: reasons[index] ?? '' })
    }
    expect(await store.claimRuns('wrk_1', 10, NOW + 1)).toEqual([])
    await store.saveWorkflows(loaded(verify), NOW + 1)
    expect(await store.claimRuns('wrk_1', 10, NOW + 1)).toHaveLength(2)
    expect(await store.claimRuns('wrk_1', 10, later)).toHaveLength(1)
  })

  test('a workflow whose module is gone is deleted, one whose module is broken is kept', async ({ store }) => {
    await store.saveWorkflows(loaded(verify, nightly), NOW)
    await store.saveWorkflows({ workflows: [], broken: ['verify.workflow.ts'] }, NOW + 1)
    expect((await store.listWorkflows()).map(({ id }) => id)).toEqual(['verify'])
    await store.saveWorkflows(loaded(nightly), NOW + 2)
    await new Promise(setImmediate)
    expect(await store.listRoutes()).toEqual([])
  })

  test('a workflow is loaded anew by each process that has it, even if nothing about it changed', async ({ store }) => {
    await store.saveWorkflows(loaded(verify, nightly), NOW)
    await store.saveWorkflows(loaded(verify, nightly), NOW + 1)
    expect((await store.listWorkflows()).map(({ loadedAt }) => loadedAt)).toEqual([NOW + 1, NOW + 1])
    await store.saveWorkflows({ workflows: [], broken: ['verify.workflow.ts'] }, NOW + 2)
    expect(await store.listWorkflows()).toMatchObject([{ id: 'verify', loadedAt: NOW + 1 }])
    // A running app goes on with the code that it loaded last, and names it.
    await store.saveWorkflows({ workflows: [verify], broken: ['verify.workflow.ts'] }, NOW + 3)
    expect(await store.listWorkflows()).toMatchObject([{ id: 'verify', loadedAt: NOW + 1 }])
  })

  test('the runs of a paused workflow are held, and released oldest first', async ({ store }) => {
    await store.saveWorkflows(loaded(verify), NOW)
    const first = await queueRun(store, 'evt_1', 'verify', NOW)
    const second = await queueRun(store, 'evt_2', 'verify', NOW + 1)
    expect(await store.pauseWorkflow('verify', NOW)).toBe(true)
    expect(await store.pauseWorkflow('verify', NOW)).toBe(false)
    expect(await store.holdRuns('verify', 1)).toBe(1)
    expect(await store.findRun(first)).toMatchObject({
      status: 'waiting',
      dueAt: null,
      reason: 'the workflow is paused',
    })
    await queueRun(store, 'evt_3', 'other', NOW + 2)
    // The second run is not held yet: the claim holds it.
    expect(await store.claimRuns('wrk_1', 1, NOW)).toMatchObject([{ workflow: 'other' }])
    expect(await store.listWorkflows()).toMatchObject([{ id: 'verify', pausedAt: NOW, held: 2 }])
    expect(await store.releaseHeldRuns('verify', 10)).toBe(0)

    expect(await store.resumeWorkflow('verify')).toBe(true)
    expect(await store.resumeWorkflow('verify')).toBe(false)
    expect(await store.holdRuns('verify', 10)).toBe(0)
    expect(await store.releaseHeldRuns('verify', 1)).toBe(1)
    expect((await store.claimRuns('wrk_1', 9, NOW)).map((run) => run.lease.runId)).toEqual([first])
    expect(await store.releaseHeldRuns('verify', 10)).toBe(1)
    expect((await store.claimRuns('wrk_1', 9, NOW)).map((run) => run.lease.runId)).toEqual([second])
  })

  test('a run that wakes while its workflow is paused is held, and can be canceled', async ({ store }) => {
    const id = await queueRun(store, 'evt_1', 'verify')
    const [run] = await store.claimRuns('wrk_1', 1, NOW)
    await store.pauseWorkflow('verify', NOW)
    if (run) await store.parkRun(run.lease, { dueAt: NOW + 1, reason: 'sleeps' })
    expect(await store.claimRuns('wrk_1', 1, NOW + 1)).toEqual([])
    expect(await store.findRun(id)).toMatchObject({ status: 'waiting', reason: 'the workflow is paused' })
    expect(await store.cancelRun(id, 'by hand', NOW + 2)).toBe(true)
    await store.resumeWorkflow('verify')
    expect(await store.releaseHeldRuns('verify', 10)).toBe(0)
  })

  test('a claim reaches other workflows behind a backlog of a paused one', async ({ store }) => {
    for (let n = 0; n < 30; n++)
      await store.saveDelivery(incoming(`evt_${n}`, { workflows: ['verify'], receivedAt: NOW }))
    await queueRun(store, 'evt_other', 'other', NOW + 1)
    await store.pauseWorkflow('verify', NOW)
    expect(await store.claimRuns('wrk_1', 2, NOW)).toMatchObject([{ workflow: 'other' }])
    expect(await store.listRuns({ limit: 100, status: 'waiting' })).toHaveLength(30)
  })

  test('a claim that meets more runs of a paused workflow than it holds gives none of them', async ({ store }) => {
    const workflows = Array.from({ length: 100 }, (_, n) => `verify_${n}`)
    for (let n = 0; n < 6; n++) await store.saveDelivery(incoming(`evt_${n}`, { workflows, receivedAt: NOW }))
    for (const workflow of workflows) await store.pauseWorkflow(workflow, NOW)
    for (let claim = 0; claim < 3; claim++) expect(await store.claimRuns('wrk_1', 5, NOW)).toEqual([])
    expect(await store.listRuns({ limit: 1_000, status: 'waiting' })).toHaveLength(600)
  })
})
