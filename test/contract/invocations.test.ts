import { expect, inject } from 'vitest'
import { FIRST_FENCE, type Lease } from '../../src/core/runs/lease.ts'
import type { Invocation } from '../../src/core/runs/wait.ts'
import { planOnce } from '../../src/core/service/plan-schedule.ts'
import { carryOutAll } from '../../src/core/store/as-operator.ts'
import type { Store } from '../../src/core/store/store.ts'
import { checkpoint, eventBody, NOW } from '../support/fixtures.ts'
import { describeStores } from './describe-stores.ts'
import { arrive } from './support/ask-admission.ts'
import { claimNext } from './support/claim-next.ts'
import { addEvent, claimLease, invoke, match, statusOf, WAIT, WAITING, waitingRun } from './support/waiting-runs.ts'

const isLongRun = inject('isLongRun') === true
/** Runs below one another. */
const DEPTH = isLongRun ? 30 : 5_000
/** Children of one run, more than two commits cancel. */
const MANY = 600

/** Makes `depth` runs, each invoked by the one before it, in few commits; returns the deepest. */
async function invokeChain(store: Store, root: Lease, depth: number): Promise<Lease> {
  let lease = root
  const writes: Promise<unknown>[] = []
  const step = checkpoint('ask', { kind: 'invoke', status: 'waiting' })
  for (let level = 1; level <= depth; level++) {
    const invoke = { run: `run_nested_${level}`, workflow: 'child', account: 'default', input: 'null', createdAt: NOW }
    writes.push(store.saveCheckpoint(lease, step, undefined, { invoke }))
    // Only SQLite orders writes about several runs by their calls.
    if (isLongRun) await Promise.all(writes)
    writes.push(store.claimRuns('wrk_1', 1, NOW))
    if (isLongRun) await Promise.all(writes)
    lease = { runId: invoke.run, fence: FIRST_FENCE, worker: 'wrk_1' }
  }
  await Promise.all(writes)
  return lease
}

describeStores((test, open) => {
  test('an invoked run starts with the checkpoint of its step and wakes its parent when it ends', async () => {
    for (const end of ['complete', 'fail', 'skip', 'cancel'] as const) {
      const { store } = await open()
      const parent = await claimLease(store)
      const run = `run_child_${end}`
      const asked = { run, account: 'other', input: '{"n":1}' }
      for (let times = 0; times < 2; times++) await invoke(store, parent, asked)
      await store.parkRun(parent, { dueAt: null, reason: 'waits for it', awaits: ['ask'] })
      expect(await statusOf(store, parent)).toBe('waiting')
      expect(await store.listEndedWaits(parent.runId)).toEqual([])
      const claimed = await store.claimRuns('wrk_1', 5, NOW)
      expect(claimed).toMatchObject([
        { workflow: 'child', cause: { kind: 'call', account: 'other', input: '{"n":1}' } },
      ])
      const [child] = claimed
      if (!child) throw new Error('it was started')
      if (end === 'complete') await store.completeRun(child.lease, '2', NOW)
      if (end === 'fail') await store.failRun(child.lease, { name: 'Error', message: 'no' }, NOW)
      if (end === 'skip') await store.skipRun(child.lease, 'not wanted', NOW)
      if (end === 'cancel') await store.cancelRun(run, 'by hand', NOW)
      expect([end, await statusOf(store, parent)]).toEqual([end, 'pending'])
      expect(await store.listEndedWaits(parent.runId)).toEqual(['ask'])
      expect(await store.listRuns({ parentRun: parent.runId, limit: 5 })).toMatchObject([
        { id: run, parentRun: parent.runId, parentStep: 'ask' },
      ])
    }
  })

  test('what a run has invoked ends with its failure or cancel at any depth, unless it may outlive it', async () => {
    for (const end of ['failed', 'canceled'] as const) {
      const { store } = await open()
      const parent = await claimLease(store)
      const claimChild = async (lease: Lease, run: string, rest: Partial<Invocation> = {}) => {
        await invoke(store, lease, { run, ...rest }, run)
        return claimNext(store)
      }
      const child = await claimChild(parent, 'run_child', { endsBy: NOW + 5 })
      const grandchild = await claimChild(child.lease, 'run_grandchild')
      const kept = await claimChild(grandchild.lease, 'run_kept', { outlives: true })
      const done = await claimChild(parent, 'run_done')
      await store.completeRun(done.lease, '1', NOW)
      expect([child.endsBy, grandchild.endsBy]).toEqual([NOW + 5, undefined])
      if (end === 'failed') await store.failRun(parent, { name: 'Error', message: 'no' }, NOW)
      else await store.cancelRun(parent.runId, 'by hand', NOW)
      const states = await Promise.all(
        [child, grandchild, kept, done].map(async ({ lease }) => {
          const { status = null, reason = null } = (await store.findRun(lease.runId)) ?? {}
          return { status, reason }
        }),
      )
      const because = (run: string, how: string) => `run ${run}, which invoked it, ${how}`
      expect(states).toEqual([
        { status: 'canceled', reason: because(parent.runId, end === 'failed' ? 'failed' : 'was canceled') },
        { status: 'canceled', reason: because('run_child', 'was canceled') },
        { status: 'running', reason: null },
        { status: 'completed', reason: null },
      ])
      await expect(store.completeRun(child.lease, '2', NOW)).rejects.toMatchObject({ code: 'stale_lease' })
      // A person's word lifts the moment at which it had to end.
      expect(await store.retryRun('run_child', NOW)).toBe(true)
      const again = (await store.claimRuns('wrk_1', 5, NOW)).find(({ lease }) => lease.runId === 'run_child')
      expect(again).toMatchObject({ lease: { runId: 'run_child' } })
      expect(again?.endsBy).toBeUndefined()
    }
  })

  test('a successor takes over the parent, its wait and the positions, in the commit that ends the run', async () => {
    const { store } = await open()
    const before = await addEvent(store, 'evt_before')
    const parent = await claimLease(store)
    await invoke(store, parent, { run: 'run_first', input: '1' })
    await store.parkRun(parent, { dueAt: null, reason: 'waits for it', awaits: ['ask'] })
    const first = await claimNext(store)
    const between = await addEvent(store, 'evt_between')
    const successor = { run: 'run_second', account: 'default', input: '2', received: { all: ['evt_before'] } }
    const stale = { ...first.lease, fence: first.lease.fence + 1 }
    await expect(store.continueRun(stale, successor, NOW + 1)).rejects.toMatchObject({ code: 'stale_lease' })
    await store.continueRun(first.lease, successor, NOW + 1)
    expect(await statusOf(store, parent)).toBe('waiting')
    expect(await store.findRun('run_first')).toMatchObject({
      status: 'completed',
      output: 'null',
      continuedBy: 'run_second',
    })
    expect(await store.findInvoked(parent.runId, 'ask')).toMatchObject({ id: 'run_second', originRun: 'run_first' })
    expect(await store.findRun('run_second')).toMatchObject({ parentRun: parent.runId })
    const [second] = await store.claimRuns('wrk_1', 5, NOW + 1)
    expect(second).toMatchObject({
      lease: { runId: 'run_second' },
      cause: { kind: 'call', input: '2', parentRun: parent.runId },
      origin: 'continue',
      originRun: 'run_first',
      received: { all: ['evt_before'] },
      isFirstPass: true,
      depth: 100,
    })
    if (!second) throw new Error('it was made')
    const opened = checkpoint('moved', { kind: 'receive', status: 'waiting', output: null, finishedAt: null })
    await store.saveCheckpoint(second.lease, opened, undefined, { wait: { ...WAIT, since: { after: [] } } })
    await match(store, { [before]: 'fil_1', [between]: 'fil_1' })
    expect(await store.findMatch('run_second', 'moved')).toMatchObject({ id: 'evt_between' })
    await store.completeRun(second.lease, '"done"', NOW + 2)
    expect(await statusOf(store, parent)).toBe('pending')
  })

  test('the runs of a sent event are as deep as it says, at once and by a schedule', async ({ store }) => {
    const sender = await claimLease(store)
    const event = (id: string) => ({
      id,
      type: 'x',
      account: 'default',
      createdAt: NOW,
      body: eventBody(id),
      depth: 70,
    })
    const step = checkpoint('tell', { kind: 'send', target: 'x' })
    await store.saveCheckpoint(sender, step, undefined, { send: { ...event('evt_sent'), workflows: ['w1'] } })
    const workflows = [{ id: 'w1', file: 'w1.ts', eventTypes: ['x'], schedule: null }]
    await store.saveWorkflows({ workflows, broken: [] }, NOW)
    const plan = planOnce(NOW, { account: 'default' })
    const about = { id: 'sch_1', name: 'evt_later', owner: 'code', madeBy: sender.runId, workflow: null } as const
    await store.addSchedule({ ...about, plan, input: JSON.stringify(event('evt_later')) }, NOW)
    const [due] = await store.listDueSchedules(NOW, { limit: 1 })
    expect(await store.sendScheduled('sch_1', due?.version ?? -1, NOW)).toBe(true)
    const claimed = await store.claimRuns('wrk_1', 5, NOW)
    expect(claimed.map(({ workflow, depth }) => [workflow, depth])).toEqual([
      ['w1', 70],
      ['w1', 70],
    ])
  })

  test('a run that is invoked goes back to the event of the run at the top', async ({ store }) => {
    // Older runs of other events are no root of it.
    for (const event of ['evt_a', 'evt_b']) await arrive(store, event)
    const root = await claimLease(store)
    const { eventId } = (await store.findRun(root.runId)) ?? {}
    let parent = root
    for (const run of ['run_child', 'run_grandchild']) {
      await invoke(store, parent, { run, account: 'other' })
      const [child] = await store.claimRuns('wrk_1', 1, NOW)
      expect(child?.cause).toMatchObject({
        parentRun: parent.runId,
        root: { kind: 'event', account: 'default', event: eventId },
      })
      if (child) parent = child.lease
    }
  })

  test('each commit cancels some of many children of a run that ended, and none that its retry makes', async () => {
    for (const end of ['failed', 'canceled'] as const) {
      const { store } = await open()
      const parent = await claimLease(store)
      const begin = (lease: Lease, run: string) => invoke(store, lease, { run, outlives: false }, run)
      await Promise.all(Array.from({ length: MANY }, (_, n) => begin(parent, `run_old_${n}`)))
      if (end === 'failed') await store.failRun(parent, { name: 'Error', message: 'no' }, NOW)
      else await store.cancelRun(parent.runId, 'by hand', NOW)
      const countCanceled = async () =>
        (await store.listRuns({ status: 'canceled', parentRun: parent.runId, limit: 999 })).length
      expect(await countCanceled()).toBe(250)
      await store.retryRun(parent.runId, NOW)
      const claimed = await store.claimRuns('wrk_1', MANY, NOW)
      const again = claimed.find(({ lease }) => lease.runId === parent.runId)
      if (!again) throw new Error('it is pending again')
      // Between the old ones, by their ids.
      await begin(again.lease, 'run_old_4_new')
      expect(await store.carryOutDecision(NOW)).toBe(0)
      expect(await countCanceled()).toBe(500)
      // Whatever process was to go on: the recovery does.
      await store.recoverRuns(NOW, 60_000)
      expect(await countCanceled()).toBe(MANY)
      expect(await store.findRun('run_old_4_new')).toMatchObject({ status: 'pending' })
      expect(await store.carryOutDecision(NOW)).toBe(null)
    }
  })

  test('a run that begins anew cancels what it has invoked, and waits for nothing of before', async ({ store }) => {
    const parent = await claimLease(store)
    await invoke(store, parent, { run: 'run_child' })
    await store.saveCheckpoint(parent, WAITING, undefined, { wait: WAIT })
    await store.watchRun(parent, [{ ...WAIT, value: 'fil_stop' }], NOW)
    await store.parkRun(parent, { dueAt: null, reason: 'it diverged' })
    expect(await store.resumeRun(parent.runId, { fromScratch: true })).toBe(true)
    expect(await store.findInvoked(parent.runId, 'ask')).toBe(null)
    const again = await claimNext(store)
    await invoke(store, again.lease, { run: 'run_new' })
    await carryOutAll(store, { now: () => NOW })
    expect(await store.findRun('run_child')).toMatchObject({
      status: 'canceled',
      reason: `run ${parent.runId}, which invoked it, was begun anew`,
    })
    expect(await store.findRun('run_new')).toMatchObject({ status: 'pending' })
    // An event that its old step waited for wakes nothing; one that cancels it does so.
    await match(store, { [await addEvent(store, 'evt_moved')]: 'fil_1' })
    expect(await store.listEndedWaits(parent.runId)).toEqual([])
    await match(store, { [await addEvent(store, 'evt_stop')]: 'fil_stop' })
    expect(await statusOf(store, parent)).toBe('canceled')
  })

  test('an event that cancels a deep run resolves the waits of other runs, too', async ({ store }) => {
    const root = await claimLease(store)
    await store.watchRun(root, [WAIT], NOW)
    const deepest = await invokeChain(store, root, DEPTH)
    const other = await waitingRun(store)
    const event = await addEvent(store, 'evt_moved')
    expect((await match(store, { [event]: 'fil_1' })).canceled).toHaveLength(Math.min(DEPTH, 250) + 1)
    await carryOutAll(store, { now: () => NOW })
    expect(await statusOf(store, deepest)).toBe('canceled')
    expect(await statusOf(store, other)).toBe('pending')
  })

  test('a sent event and its runs are saved with the checkpoint of their step, or not at all', async ({ store }) => {
    const lease = await claimLease(store)
    const body = eventBody('evt_own', 'order.shipped')
    const send = {
      id: 'evt_own',
      type: 'order.shipped',
      account: 'default',
      createdAt: NOW,
      body,
      workflows: ['a', 'b'],
    }
    const stale = store.saveCheckpoint({ ...lease, fence: 99 }, checkpoint('tell'), undefined, { send })
    await expect(stale).rejects.toMatchObject({ code: 'stale_lease' })
    expect(await store.listEvents({ limit: 5, type: 'order.shipped' })).toEqual([])
    await store.saveCheckpoint(lease, checkpoint('tell', { kind: 'send' }), undefined, { send })
    await store.saveCheckpoint(lease, checkpoint('tell', { kind: 'send' }), undefined, { send })
    expect(await store.listEvents({ limit: 5, type: 'order.shipped' })).toMatchObject([
      { id: 'evt_own', origin: 'send', body },
    ])
    expect(await store.claimRuns('wrk_1', 5, NOW)).toMatchObject([{ workflow: 'a' }, { workflow: 'b' }])
  })
})
