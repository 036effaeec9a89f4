import { expect, test } from 'vitest'
import { deriveRunId } from '../../src/core/ids.ts'
import type { ClaimedRun } from '../../src/core/runs/claim.ts'
import type { Store } from '../../src/core/store/store.ts'
import { checkpoint, incoming, NOW, queueRun } from '../support/fixtures.ts'
import { describeStores } from './describe-stores.ts'
import { arrive, askAdmission, concurrency } from './support/ask-admission.ts'
import { claimNext } from './support/claim-next.ts'

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

const idOf = ({ lease }: ClaimedRun) => lease.runId

describeStores((open) => {
  test('a freed place goes to the run that is claimed next, whatever backlog there is', async () => {
    const { store } = await open()
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

  test('places that come free together are claimed together, in the order of the line', async () => {
    const { store } = await open()
    const [one, two, ...line] = await queueAtGate(store, 6)
    const backlog = await queueBacklog(store)
    await Promise.all([one, two].map((run) => run && store.completeRun(run.lease, 'null', NOW)))
    const claimed = await store.claimRuns('wrk_1', 4, NOW)
    expect(claimed.map(idOf)).toEqual([...line.slice(0, 2).map(idOf), ...backlog.slice(0, 2)])
  })

  test('a run with a place waits for those of a higher priority', async () => {
    const { store } = await open()
    const [first, , second] = await queueAtGate(store, 3)
    const urgent = await store.saveDelivery(incoming('evt_urgent', { priorities: { 'follow-up': 1 } }))
    if (first) await store.completeRun(first.lease, 'null', NOW)
    const claimed = await store.claimRuns('wrk_1', 2, NOW)
    expect(claimed.map(idOf)).toEqual([...urgent.runs, second && idOf(second)])
  })

  test('each tick of a line is claimed next once the one before has ended', async () => {
    const { store } = await open()
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
    const invoke = { run, workflow: 'child', account: 'default', input: '1', createdAt: NOW + 9 }
    await store.saveCheckpoint(parent.lease, checkpoint('child', { kind: 'invoke' }), undefined, { invoke })
    await store.parkRun(parent.lease, { dueAt: null, reason: 'waits', awaits: ['child'] })
    const child = await claimNext(store, NOW + 9)
    expect(idOf(child)).toBe(run)
    await store.completeRun(child.lease, 'null', NOW + 9)
    expect(idOf(await claimNext(store, NOW + 9))).toBe(idOf(parent))
  })
})
