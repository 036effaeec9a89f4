import { expect, test } from 'vitest'
import { UNADMITTED_PRIORITY } from '../../../../src/core/runs/admission.ts'
import type { Store } from '../../../../src/core/store/store.ts'
import { askAdmission, concurrency } from '../../../contract/support/ask-admission.ts'
import { claimNext } from '../../../contract/support/claim-next.ts'
import { addEvent, match, PARK, WAIT, WAITING } from '../../../contract/support/waiting-runs.ts'
import { incoming, NOW, queueRun } from '../../../support/fixtures.ts'
import { openTwo } from '../support/open-two.ts'

const ADA = { actor: 'cli:ada', role: 'owner', from: 'host-1', reason: null }

/** Runs of a workflow, oldest first. */
async function queueRuns(store: Store, count: number, workflow = 'follow-up', from = NOW): Promise<string[]> {
  return Array.fromAsync({ length: count }, (_, n) => queueRun(store, `evt_${workflow}_${n}`, workflow, from + n))
}

async function claimIds(store: Store, limit: number, now = NOW): Promise<string[]> {
  return (await store.claimRuns('wrk_1', limit, now)).map(({ lease }) => lease.runId)
}

/** A run that is older than all others, and is not told to the other store. */
const queueOlder = (store: Store, age = 1) => queueRun(store, `evt_older_${age}`, 'follow-up', NOW - age)

test('a run of a higher priority that another process makes is claimed next', async () => {
  const { one, two } = await openTwo()
  const queued = await queueRuns(one, 6)
  expect(await claimIds(one, 2)).toEqual(queued.slice(0, 2))
  const urgent = incoming('evt_urgent', { receivedAt: NOW - 5, priorities: { 'follow-up': 5 } })
  const { runs } = await two.saveDelivery(urgent)
  expect(await claimIds(one, 2)).toEqual([...runs, queued[2]])
  // Behind the marks of both ranks, too.
  const more = await Array.fromAsync([9, 8, 7], async (priority) => {
    const delivery = incoming(`evt_${priority}`, { receivedAt: NOW - priority, priorities: { 'follow-up': priority } })
    return (await two.saveDelivery(delivery)).runs[0]
  })
  const late = await two.saveDelivery(incoming('evt_late', { receivedAt: NOW + 9, priorities: { 'follow-up': 5 } }))
  expect(await claimIds(one, 5)).toEqual([...more, ...late.runs, queued[3]])
  expect(await claimIds(one, 5)).toEqual(queued.slice(4))
})

test('an older run of another process waits for 49 claims at most, or a second', async () => {
  const { one, two } = await openTwo()
  await queueRuns(one, 60)
  expect(await claimIds(one, 1)).toHaveLength(1)
  const older = await queueOlder(two)
  const claimed: string[] = []
  while (!claimed.includes(older)) claimed.push(...(await claimIds(one, 1)))
  expect(claimed).toHaveLength(50)
  const oldest = await queueOlder(two, 2)
  expect(await claimIds(one, 1, NOW + 999)).not.toEqual([oldest])
  expect(await claimIds(one, 1, NOW + 1_000)).toEqual([oldest])
})

test('a claim that finds too few runs behind its mark gets the older ones as well, in their order', async () => {
  const { one, two } = await openTwo()
  const queued = await queueRuns(one, 3)
  await claimIds(one, 2)
  const [older, oldest] = [await queueOlder(two, 1), await queueOlder(two, 2)]
  const urgent = incoming('evt_urgent', { receivedAt: NOW + 9, priorities: { 'follow-up': 5 } })
  const { runs } = await two.saveDelivery(urgent)
  expect(await claimIds(one, 10)).toEqual([...runs, oldest, older, queued[2]])
  expect(await claimIds(one, 10)).toEqual([])
})

test('a claim that had to look before its mark is followed by one that begins at the head', async () => {
  const { one, two } = await openTwo()
  const queued = await queueRuns(one, 3)
  await claimIds(one, 2)
  const older = await Array.fromAsync([3, 2, 1], (age) => queueOlder(two, age))
  expect(await claimIds(one, 2)).toEqual([older[0], queued[2]])
  await queueRuns(two, 3, 'later')
  expect(await claimIds(one, 2)).toEqual(older.slice(1))
})

test('due runs that another process parks for earlier are claimed by a short claim, and in a second', async () => {
  const { one, two } = await openTwo()
  const leases = (await queueRuns(one, 8).then(() => one.claimRuns('wrk_1', 8, NOW))).map(({ lease }) => lease)
  const park = (store: Store, at: number, dueAt: number) => {
    const lease = leases[at]
    if (lease === undefined) throw new Error('too few runs')
    return store.parkRun(lease, { dueAt, reason: 'sleeps' })
  }
  for (let n = 0; n < 5; n++) await park(one, n, NOW - 100 + n)
  const ids = leases.map(({ runId }) => runId)
  expect(await claimIds(one, 2)).toEqual(ids.slice(0, 2))
  await park(two, 5, NOW - 500)
  expect(await claimIds(one, 1)).toEqual([ids[2]])
  expect(await claimIds(one, 1, NOW + 1_000)).toEqual([ids[5]])
  await park(two, 6, NOW - 600)
  expect(await claimIds(one, 3, NOW + 1_000)).toEqual([ids[6], ids[3], ids[4]])
})

test('due runs move no mark of those that are pending', async () => {
  const { one } = await openTwo()
  const pending = await queueRuns(one, 2)
  const due = await queueRuns(one, 2, 'due', NOW + 9)
  for (const { lease } of (await one.claimRuns('wrk_1', 4, NOW)).toReversed()) {
    if (due.includes(lease.runId)) await one.parkRun(lease, { dueAt: NOW, reason: 'sleeps' })
    else await one.releaseRun(lease)
  }
  expect(new Set(await claimIds(one, 2))).toEqual(new Set(due))
  const newer = await queueRuns(one, 1, 'newer', NOW + 99)
  expect(await claimIds(one, 1)).toEqual(pending.slice(0, 1))
  expect(await claimIds(one, 5)).toEqual([pending[1], ...newer])
})

test('a claim of runs that are not admitted gets no others, and those that another process made before', async () => {
  const { one, two } = await openTwo()
  await queueRuns(one, 2)
  const limited = { priorities: { 'follow-up': UNADMITTED_PRIORITY } }
  const save = async (store: Store, id: string, receivedAt: number) =>
    (await store.saveDelivery(incoming(id, { ...limited, receivedAt }))).runs[0]
  const [first, second] = [await save(one, 'evt_first', NOW + 5), await save(one, 'evt_second', NOW + 6)]
  const claim = async (limit: number) =>
    (await one.claimUnadmittedRuns('wrk_1', limit, NOW)).map(({ lease }) => lease.runId)
  expect(await claim(1)).toEqual([first])
  const older = await save(two, 'evt_older', NOW + 4)
  expect(await claim(9)).toEqual([older, second])
})

/** Gives back a run that is older than the mark, or lets it in; gives its id. */
const BACK: Record<string, (store: Store) => Promise<string>> = {
  async release(store) {
    const { lease } = await claimNext(store)
    await claimNext(store)
    await store.releaseRun(lease)
    return lease.runId
  },
  async retry(store) {
    const { lease } = await claimNext(store)
    await store.failRun(lease, { name: 'Error', message: 'no luck' }, NOW)
    await claimNext(store)
    await store.retryRun(lease.runId, NOW)
    return lease.runId
  },
  async 'retry by an operator'(store) {
    const { lease } = await claimNext(store)
    await store.failRun(lease, { name: 'Error', message: 'no luck' }, NOW)
    await claimNext(store)
    const entry = { ...ADA, at: NOW, action: 'run.retry', target: lease.runId, parameters: {} }
    await store.operate(entry, { write: 'retryRun', args: [lease.runId, NOW] })
    return lease.runId
  },
  async 'a worker that stops'(store) {
    const { lease } = await claimNext(store)
    await store.claimRuns('wrk_2', 1, NOW)
    await store.stopWorker('wrk_1')
    return lease.runId
  },
  async 'the end of a pause'(store) {
    const held = await queueRun(store, 'evt_held', 'held', NOW - 1)
    await store.pauseWorkflow('held', NOW)
    await claimNext(store)
    await store.resumeWorkflow('held')
    await store.releaseHeldRuns('held', 10)
    return held
  },
  async 'a free slot'(store) {
    const next = await letIn(store)
    await store.completeRun(next.first, 'null', NOW)
    return next.second
  },
  async 'a limited run that parks'(store) {
    const next = await letIn(store)
    await store.parkRun(next.first, { dueAt: NOW + 1_000, reason: 'sleeps' })
    return next.second
  },
  async 'what it awaited as it parked'(store) {
    const { lease } = await claimNext(store)
    await store.saveCheckpoint(lease, WAITING, undefined, { wait: WAIT })
    await match(store, { [await addEvent(store, 'evt_moved')]: 'fil_1' })
    await claimNext(store)
    await store.parkRun(lease, PARK)
    return lease.runId
  },
  async 'an event that it waits for'(store) {
    const { lease } = await claimNext(store)
    await store.saveCheckpoint(lease, WAITING, undefined, { wait: WAIT })
    await store.parkRun(lease, PARK)
    await claimNext(store)
    await match(store, { [await addEvent(store, 'evt_moved')]: 'fil_1' })
    return lease.runId
  },
  async 'an urgent delivery of its own'(store) {
    const save = async (at: number) => {
      const delivery = incoming(`evt_${at}`, { receivedAt: NOW + at, priorities: { 'follow-up': 5 } })
      return (await store.saveDelivery(delivery)).runs[0] ?? ''
    }
    await save(50)
    await save(60)
    await claimNext(store)
    return save(40)
  },
  'a delivery of its own': (store) => claimNext(store).then(() => queueOlder(store)),
}

/** A run with the only slot of its gate, and the next one in line. A newer run is claimed. */
async function letIn(store: Store) {
  const [first, second] = [await claimNext(store), await claimNext(store)]
  for (const run of [first, second]) await askAdmission(store, run, { gates: [concurrency] })
  await claimNext(store)
  await claimNext(store)
  return { first: first.lease, second: second.lease.runId }
}

test.each(Object.entries(BACK))('an older run that is back by %s is claimed next', async (_, giveBack) => {
  const { one } = await openTwo()
  await queueRuns(one, 8)
  const back = await giveBack(one)
  expect(await claimIds(one, 1)).toEqual([back])
})

test('runs of a paused workflow behind the mark are held, and the next ones claimed', async () => {
  const { one, two } = await openTwo()
  const queued = await queueRuns(one, 6)
  await claimIds(one, 2)
  await two.pauseWorkflow('paused', NOW)
  const paused = await queueRuns(two, 3, 'paused', NOW + 2)
  expect(await claimIds(one, 4)).toEqual(queued.slice(2))
  const states = await Array.fromAsync(paused, async (id) => (await one.findRun(id))?.status)
  expect(states).toEqual(['waiting', 'waiting', 'waiting'])
})
