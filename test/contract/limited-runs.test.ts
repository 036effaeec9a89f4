import { expect } from 'vitest'
import type { AdmissionPlan } from '../../src/core/runs/admission.ts'
import type { ClaimedRun } from '../../src/core/runs/claim.ts'
import type { Store } from '../../src/core/store/store.ts'
import { NOW } from '../support/fixtures.ts'
import { describeStores } from './describe-stores.ts'
import { arrive, askAdmission, batch, concurrency, debounce } from './support/ask-admission.ts'
import { claimNext } from './support/claim-next.ts'
import { countPrunable } from './support/count-prunable.ts'

const LATER = NOW + 1e9

/** A run that arrived and asked for its admission. */
async function admit(store: Store, eventId: string, part: Partial<AdmissionPlan>): Promise<ClaimedRun> {
  const run = await arrive(store, eventId)
  await askAdmission(store, run, part)
  return run
}

/** Fills a batch with three events, and claims its run. */
async function fillBatch(store: Store): Promise<ClaimedRun> {
  const runs = []
  for (const id of ['evt_1', 'evt_2', 'evt_3']) runs.push(await admit(store, id, { fold: batch }))
  const leader = await claimNext(store)
  expect(leader).toMatchObject({ folded: 2, lease: { runId: runs[0]?.lease.runId } })
  return leader
}

const idsOf = async (store: Store, runId: string) => (await store.listRunEvents(runId)).map((event) => event.id)

describeStores((test, open) => {
  test('folded runs are kept as long as the run that absorbed them, and bodies while it is unfinished', async () => {
    const { store } = await open()
    const leader = await fillBatch(store)
    const slice = { before: LATER, limit: 100, after: null }
    await store.prune({ kind: 'runs', ...slice })
    await store.prune({ kind: 'payloads', ...slice })
    const events = await store.listRunEvents(leader.lease.runId)
    expect(events.map((event) => [event.id, event.body !== ''])).toEqual([
      ['evt_1', true],
      ['evt_2', true],
      ['evt_3', true],
    ])
    await store.failRun(leader.lease, { name: 'Error', message: 'no' }, NOW)
    await store.prune({ kind: 'runs', ...slice })
    expect(await store.listRuns({ limit: 10 })).toHaveLength(3)
    await store.prune({ kind: 'failures', ...slice })
    await store.prune({ kind: 'runs', ...slice })
    expect(await store.listRuns({ limit: 10 })).toEqual([])
  })

  test('a folded run goes in the same slice as an older run that absorbed it, or in the next one', async ({
    store,
  }) => {
    const leader = await fillBatch(store)
    await store.completeRun(leader.lease, 'null', NOW)
    const all = { kind: 'runs', before: LATER, limit: 100, after: null } as const
    expect(await countPrunable(store, 'runs', { before: LATER })).toMatchObject({ rows: 3 })
    expect(await store.prune({ ...all, limit: 2 })).toMatchObject({ pruned: 2 })
    expect(await store.prune(all)).toMatchObject({ pruned: 1, next: null })
    expect(await store.listRuns({ limit: 10 })).toEqual([])
  })

  test('a folded run goes in the sweep after that of a newer run which absorbed it', async ({ store }) => {
    for (const id of ['evt_1', 'evt_2']) await admit(store, id, { fold: debounce })
    const { lease } = await claimNext(store, NOW + 1_000)
    await store.completeRun(lease, 'null', NOW)
    for (const left of [1, 0]) {
      expect(await countPrunable(store, 'runs', { before: LATER })).toMatchObject({ rows: 1 })
      const slice = await store.prune({ kind: 'runs', before: LATER, limit: 100, after: null })
      expect(slice).toMatchObject({ pruned: 1, next: null })
      expect(await store.listRuns({ limit: 10 })).toHaveLength(left)
    }
  })

  test('a fork of a batch, and its onFailure run, have all events of the batch', async ({ store }) => {
    const leader = await fillBatch(store)
    await store.failRun(leader.lease, { name: 'Error', message: 'no' }, NOW, true)
    const [follower] = await store.claimRuns('wrk_1', 1, NOW)
    expect(follower).toMatchObject({ handler: 'onFailure', folded: 2, isAdmitted: false })
    expect(await idsOf(store, follower?.lease.runId ?? '')).toEqual(['evt_1', 'evt_2', 'evt_3'])
    const fork = await store.forkRun(leader.lease.runId, { keys: [], edited: null }, NOW)
    expect(await idsOf(store, fork)).toEqual(['evt_1', 'evt_2', 'evt_3'])
    expect(await store.findRun(fork)).toMatchObject({ folded: 2 })
  })

  test('a limited run that a person retries stands in line like a new one', async ({ store }) => {
    const first = await admit(store, 'evt_1', { gates: [concurrency] })
    const second = await admit(store, 'evt_2', { gates: [concurrency] })
    await store.failRun(first.lease, { name: 'Error', message: 'no' }, NOW)
    expect(await store.retryRun(first.lease.runId, NOW)).toBe(true)
    const claimed = await store.claimRuns('wrk_1', 10, NOW)
    expect(claimed.map((run) => [run.lease.runId, run.isAdmitted])).toEqual([
      [second.lease.runId, true],
      [first.lease.runId, false],
    ])
  })

  test('a person cannot resume a run past the others in its line', async ({ store }) => {
    await admit(store, 'evt_1', { gates: [concurrency] })
    const second = await admit(store, 'evt_2', { gates: [concurrency] })
    expect(await store.resumeRun(second.lease.runId, { fromScratch: false })).toBe(false)
  })

  test('a run that a pause holds keeps its place, and its line goes on in order afterwards', async () => {
    const { store, reopen } = await open()
    const gates = [concurrency]
    const first = await admit(store, 'evt_1', { gates })
    const [second, third, fourth] = [
      await admit(store, 'evt_2', { gates }),
      await admit(store, 'evt_3', { gates }),
      await admit(store, 'evt_4', { gates }),
    ].map(({ lease }) => lease.runId)
    await store.pauseWorkflow('follow-up', NOW)
    await store.completeRun(first.lease, 'null', NOW)
    expect(await store.claimRuns('wrk_1', 10, NOW)).toEqual([])
    expect(await store.claimUnadmittedRuns('wrk_1', 10, NOW)).toEqual([])
    expect(await store.findRun(second ?? '')).toMatchObject({ status: 'waiting', reason: 'the workflow is paused' })
    expect(await store.findRun(third ?? '')).toMatchObject({ status: 'waiting', isInLine: true })
    const after = await reopen()
    // One who cancels the held run lets the next one in, and that is held too.
    await after.cancelRun(second ?? '', 'by hand', NOW)
    expect(await after.holdRuns('follow-up', 10)).toBe(1)
    await after.resumeWorkflow('follow-up')
    await after.releaseHeldRuns('follow-up', 10)
    const begun: string[] = []
    for (let run = await claimNext(after); begun.push(run.lease.runId) < 2; run = await claimNext(after)) {
      expect(run.isAdmitted).toBe(true)
      await after.completeRun(run.lease, 'null', NOW)
    }
    expect(begun).toEqual([third, fourth])
  })

  test('the priority of new runs is stored with the routes of their workflow', async ({ store, reopen }) => {
    const limited = { id: 'limited', file: 'l.workflow.ts', eventTypes: ['*'], schedule: null, priority: 1_000 }
    const plain = { id: 'plain', file: 'p.workflow.ts', eventTypes: ['*'], schedule: null }
    await store.saveWorkflows({ workflows: [limited, plain], broken: [] }, NOW)
    expect(await (await reopen()).listRoutes()).toEqual([
      { eventType: '*', workflow: 'limited', priority: 1_000 },
      { eventType: '*', workflow: 'plain' },
    ])
    const before = await store.readSetupVersion()
    await store.saveWorkflows({ workflows: [limited, plain], broken: [] }, NOW + 1)
    expect(await store.readSetupVersion()).toBe(before)
    await store.saveWorkflows({ workflows: [{ ...limited, priority: 0 }, plain], broken: [] }, NOW + 1)
    expect(await store.readSetupVersion()).toBeGreaterThan(before)
  })
})
