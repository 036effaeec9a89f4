import { expect } from 'vitest'
import { deriveRunId } from '../../src/core/ids.ts'
import type { ClaimedRun } from '../../src/core/runs/claim.ts'
import type { Store } from '../../src/core/store/store.ts'
import { incoming, NOW, queueRun } from '../support/fixtures.ts'
import { describeStores } from './describe-stores.ts'
import { arrive, askAdmission, concurrency, throttle } from './support/ask-admission.ts'
import { claimNext } from './support/claim-next.ts'
import { invoke } from './support/waiting-runs.ts'

const BACKLOG = 30

/** New runs without limits, oldest first; all are older than those of the test. */
function queueBacklog(store: Store): Promise<string[]> {
  return Array.fromAsync({ length: BACKLOG }, (_, n) => queueRun(store, `evt_backlog_${n}`, 'other', NOW - 1_000 + n))
}

/** Runs at a gate of two places: the first two hold them. */
async function queueAtGate(store: Store, count: number): Promise<ClaimedRun[]> {
  const gates = [{ ...concurrency, most: 2 }]
  return Array.fromAsync({ length: count }, async (_, n) => {
    const run = await arrive(store, `evt_limited_${n}`, NOW + n)
    await askAdmission(store, run, { gates })
    return run
  })
}

/** The lease of a run that was handed on. */
async function heldBy(store: Store, { lease, ...run }: ClaimedRun): Promise<ClaimedRun> {
  const held = (await store.listLeases('wrk_1')).find(({ runId }) => runId === lease.runId)
  return { ...run, lease: { ...lease, ...held } }
}

const NO_LEASE = { runId: 'none', fence: 0, worker: 'wrk_1' }
const idOf = ({ lease }: ClaimedRun) => lease.runId

describeStores((test, open) => {
  test('a freed place goes to the run that is claimed next, whatever backlog there is', async ({ store }) => {
    const [one, two, ...line] = await queueAtGate(store, 12)
    const backlog = await queueBacklog(store)
    const atWork = [one, two]
    const next: string[] = []
    for (const _ of line) {
      const ended = atWork.shift()
      if (ended) await store.completeRun(ended.lease, 'null', NOW)
      const claimed = await claimNext(store, NOW)
      expect(claimed.isAdmitted).toBe(true)
      atWork.push(claimed)
      next.push(idOf(claimed))
    }
    expect(next).toEqual(line.map(idOf))
    expect((await store.claimRuns('wrk_1', 2, NOW)).map(idOf)).toEqual(backlog.slice(0, 2))
  })

  test('slots that come free together are claimed together, in the order of the line', async ({ store }) => {
    const [one, two, ...line] = await queueAtGate(store, 6)
    const backlog = await queueBacklog(store)
    await Promise.all([one, two].map((run) => run && store.completeRun(run.lease, 'null', NOW)))
    const claimed = await store.claimRuns('wrk_1', 4, NOW)
    expect(claimed.map(idOf)).toEqual([...line.slice(0, 2).map(idOf), ...backlog.slice(0, 2)])
  })

  test('an end hands its place on to the first in line, already claimed for its worker', async ({ store }) => {
    const [one, two, ...line] = await queueAtGate(store, 5)
    const backlog = await queueBacklog(store)
    const handOn = (run?: ClaimedRun) => store.completeRun(run?.lease ?? NO_LEASE, 'null', NOW, true)
    // Ends that come together, as well as one after the other.
    const next = [
      ...(await Promise.all([one, two].map(handOn))),
      await handOn(line[0] && (await heldBy(store, line[0]))),
    ]
    expect(next.map((run) => run && idOf(run)).sort()).toEqual(line.map(idOf))
    for (const run of next) {
      expect(run).toMatchObject({ isAdmitted: true, isFirstPass: true, cause: { kind: 'event' } })
      // Each is made after the moment at which the store was asked to hand on.
      expect(run?.startedAt).toBe(run?.createdAt)
    }
    expect((await store.claimRuns('wrk_1', 2, NOW)).map(idOf)).toEqual(backlog.slice(0, 2))
    // The last ones of the line: nobody is behind them.
    for (const run of next.slice(1)) expect(await handOn(run)).toBeUndefined()
  })

  test('an end hands nothing on where a run of a higher priority waits, or the workflow is paused', async () => {
    const { store } = await open()
    const [one, two, three, four] = await queueAtGate(store, 4)
    const urgent = await store.saveDelivery(incoming('evt_urgent', { priorities: { 'follow-up': 1 } }))
    expect(one && (await store.completeRun(one.lease, 'null', NOW, true))).toBeUndefined()
    expect((await store.claimRuns('wrk_1', 2, NOW)).map(idOf)).toEqual([...urgent.runs, three && idOf(three)])
    await store.pauseWorkflow('follow-up', NOW)
    expect(two && (await store.completeRun(two.lease, 'null', NOW, true))).toBeUndefined()
    expect(await store.claimRuns('wrk_1', 2, NOW)).toEqual([])
    await store.resumeWorkflow('follow-up')
    await store.releaseHeldRuns('follow-up', 9)
    expect((await store.claimRuns('wrk_1', 2, NOW)).map(idOf)).toEqual([four && idOf(four)])
  })

  test('an end hands its slot on behind a throttle too, which counts that start', async ({ store }) => {
    const gates = [{ ...throttle, most: 2 }, concurrency]
    const [first, second, third] = await Array.fromAsync({ length: 3 }, async (_, n) => {
      const run = await arrive(store, `evt_${n}`)
      await askAdmission(store, run, { gates })
      return run
    })
    const next = await store.completeRun(first?.lease ?? NO_LEASE, 'null', NOW + 7, true)
    expect(next && idOf(next)).toBe(second && idOf(second))
    // The first start counts to the moment 100, and that of the second to 107.
    expect(await store.findRun(third ? idOf(third) : '')).toMatchObject({ isInLine: true, dueAt: NOW + 100 })
    const back = await claimNext(store, NOW + 100)
    expect(await askAdmission(store, back, { gates }, NOW + 100)).toMatchObject({ kind: 'queued', dueAt: null })
    expect(
      next && idOf((await store.completeRun((await heldBy(store, next)).lease, 'null', NOW + 101, true)) ?? back),
    ).toBe(idOf(back))
    const fourth = await arrive(store, 'evt_4', NOW + 101)
    expect(await askAdmission(store, fourth, { gates }, NOW + 101)).toMatchObject({ dueAt: NOW + 107 })
  })

  test('a run with a place waits for those of a higher priority', async ({ store }) => {
    const [first, , second] = await queueAtGate(store, 3)
    const urgent = await store.saveDelivery(incoming('evt_urgent', { priorities: { 'follow-up': 1 } }))
    if (first) await store.completeRun(first.lease, 'null', NOW)
    const claimed = await store.claimRuns('wrk_1', 2, NOW)
    expect(claimed.map(idOf)).toEqual([...urgent.runs, second && idOf(second)])
  })

  test('of four claims that runs which wake would fill, one begins with the others', async ({ store }) => {
    const sleepers = await Array.fromAsync({ length: 12 }, async (_, n) => {
      await queueRun(store, `evt_${n}`)
      const { lease } = await claimNext(store)
      await store.parkRun(lease, { dueAt: NOW + 1 + n, reason: 'sleeps' })
      return lease.runId
    })
    const backlog = await queueBacklog(store)
    const claimed: string[] = []
    for (const _ of sleepers) claimed.push(idOf(await claimNext(store, NOW + 99)))
    expect(claimed.slice(0, 4)).toEqual([...sleepers.slice(0, 3), backlog[0]])
    expect(claimed.filter((id) => backlog.includes(id))).toEqual(backlog.slice(0, 3))
    const many = (await store.claimRuns('wrk_1', 4, NOW + 99)).map(idOf)
    expect(many).toEqual([...sleepers.slice(9), backlog[3]])
  })

  test('where none but runs that wake are there, each claim gets them', async ({ store }) => {
    for (let n = 0; n < 5; n++) {
      await queueRun(store, `evt_${n}`)
      await store.parkRun((await claimNext(store)).lease, { dueAt: NOW + 1, reason: 'sleeps' })
    }
    for (let n = 0; n < 5; n++) expect((await claimNext(store, NOW + 9)).workflow).toBe('follow-up')
  })

  test('each tick of a line is claimed next once the one before has ended', async ({ store }) => {
    await queueBacklog(store)
    const ticks = await Array.fromAsync([1, 2, 3], (second) => {
      const scheduledFor = NOW + 1_000 * second
      return store.recordTick('tick', { scheduledFor, missed: 0 }, scheduledFor, { overlap: 'queue' })
    })
    for (const tick of ticks) {
      const claimed = await claimNext(store, NOW + 5_000)
      expect(idOf(claimed)).toBe(tick)
      await store.completeRun(claimed.lease, 'null', NOW + 5_000)
    }
  })

  test('an invoked run comes before runs newer than the one that waits for it, and then that one', async () => {
    const { store } = await open()
    const parent = await arrive(store, 'evt_parent')
    await Array.fromAsync({ length: 5 }, (_, n) => queueRun(store, `evt_newer_${n}`, 'other', NOW + 1 + n))
    await store.claimRuns('wrk_1', 2, NOW + 9)
    const run = deriveRunId(idOf(parent), 'child', 1)
    await invoke(store, parent.lease, { run, createdAt: NOW + 9 }, 'child')
    await store.parkRun(parent.lease, { dueAt: null, reason: 'waits', awaits: ['child'] })
    const child = await claimNext(store, NOW + 9)
    expect(idOf(child)).toBe(run)
    await store.completeRun(child.lease, 'null', NOW + 9)
    expect(idOf(await claimNext(store, NOW + 9))).toBe(idOf(parent))
  })
})
