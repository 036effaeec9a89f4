import { expect } from 'vitest'
import { codeHashOf } from '../../../src/author/read-workflow.ts'
import { UpshotError } from '../../../src/core/errors.ts'
import { listClaimedOnArrival } from '../../../src/core/runs/claim.ts'
import type { Store } from '../../../src/core/store/store.ts'
import type { Worker } from '../../../src/engine/worker.ts'
import { eventBody, incoming, NOW } from '../../support/fixtures.ts'
import { type TestEngine, test } from '../../support/test-engine.ts'
import { define, nap } from '../../support/workflows.ts'

const follow = define('follow-up', ({ step }) => step.run('work', () => 'done'))

/** The store, with what its claims gave. */
function watchClaims(store: Store): { store: Store; claimed: string[] } {
  const claimed: string[] = []
  const claimRuns: Store['claimRuns'] = async (...given) => {
    const runs = await store.claimRuns(...given)
    claimed.push(...runs.map((run) => run.lease.runId))
    return runs
  }
  return { store: { ...store, claimRuns }, claimed }
}

/** Saves a delivery through the worker and gives its run as it is in the end. */
async function deliver(engine: TestEngine, worker: Worker, id: string) {
  const ended = engine.notices.once('run.completed', (notice) => notice.run === runId)
  let runId = ''
  const { runs } = await worker.saveDelivery(incoming(id))
  runId = runs[0] ?? ''
  await ended
  return engine.store.findRun(runId)
}

/** A worker that has looked through its queue and found nothing. */
async function startAtRest(engine: TestEngine, ...given: Parameters<TestEngine['start']>): Promise<Worker> {
  const worker = await engine.start(...given)
  await deliver(engine, worker, 'evt_before')
  return worker
}

test("a delivery's run completes without being claimed from the queue", async ({ engine }) => {
  const { store, claimed } = watchClaims(engine.store)
  const worker = await startAtRest(engine, [follow], { store })
  const run = await deliver(engine, worker, 'evt_1')
  expect(run).toMatchObject({ status: 'completed', output: '"done"' })
  expect(claimed).not.toContain(run?.id)
})

test('a delivery is not claimed on arrival where a module of its workflows is missing here', async ({ engine }) => {
  const worker = await startAtRest(engine, [follow])
  const receipt = await worker.saveDelivery(incoming('evt_1', { workflows: ['follow-up', 'other'] }))
  expect(receipt).toMatchObject({ verdict: 'accepted', runs: [expect.any(String), expect.any(String)] })
  expect(receipt.claimedWithEvent).toBeUndefined()
})

test('the number of runs at work never exceeds the slots, whether claimed or arrived', async ({ engine }) => {
  let atWork = 0
  let most = 0
  const busy = define('follow-up', ({ step }) =>
    step.run('work', async () => {
      most = Math.max(most, ++atWork)
      for (let turns = 0; turns < 10; turns++) await new Promise(setImmediate)
      atWork -= 1
    }),
  )
  const worker = await startAtRest(engine, [busy], { slots: 3 })
  const runs = await Promise.all(Array.from({ length: 30 }, (_, n) => deliver(engine, worker, `evt_${n}`)))
  expect(runs.every((run) => run?.status === 'completed')).toBe(true)
  expect(most).toBe(3)
})

test('a delivery that starts no run still wakes a run that waits for its event', async ({ engine }) => {
  const waiting = define('follow-up', ({ step }) =>
    step.waitFor('answer', { on: 'order.placed', timeout: '1h' }).then((event) => event?.id),
  )
  const worker = await engine.start([waiting])
  const run = await engine.run('follow-up')
  expect(run).toMatchObject({ status: 'waiting' })
  const ended = engine.notices.once('run.completed')
  await worker.saveDelivery(incoming('evt_answer', { body: eventBody('evt_answer', 'order.placed'), workflows: [] }))
  await ended
  expect(await engine.store.findRun(run.id)).toMatchObject({ status: 'completed', output: '"evt_answer"' })
})

test('a run that arrives while the worker stops is released, and no author code is called', async ({ engine }) => {
  const called: string[] = []
  const noting = define('follow-up', ({ event }) => void called.push(event.id))
  const worker = await startAtRest(engine, [noting])
  const saved = worker.saveDelivery(incoming('evt_1'))
  await worker.stop()
  const { runs, claimedWithEvent } = await saved
  expect(claimedWithEvent).toBeDefined()
  await new Promise(setImmediate)
  expect(called).toEqual(['evt_before'])
  expect(await engine.store.findRun(runs[0] ?? '')).toMatchObject({ status: 'pending' })
  expect(await engine.store.listLeases(worker.id)).toEqual([])
  const ended = engine.notices.once('run.completed')
  await engine.start([noting])
  await ended
  expect(called).toEqual(['evt_before', 'evt_1'])
})

test('deliveries that failed to be saved or were duplicates leave no slot reserved', async ({ engine }) => {
  let isBroken = false
  const { store, claimed } = watchClaims(engine.store)
  const saveDelivery: Store['saveDelivery'] = (delivery) =>
    isBroken ? Promise.reject(new UpshotError('store_unavailable', 'not now')) : store.saveDelivery(delivery)
  const worker = await startAtRest(engine, [follow], { store: { ...store, saveDelivery }, slots: 2 })
  isBroken = true
  for (let each = 0; each < 3; each++) {
    await expect(worker.saveDelivery(incoming('evt_1'))).rejects.toThrow('not now')
    // The claim that follows is through.
    for (let turns = 0; turns < 5; turns++) await new Promise(setImmediate)
  }
  isBroken = false
  for (const id of ['dlv_1', 'dlv_2', 'dlv_3']) {
    expect(await worker.saveDelivery(incoming('evt_before', { id }))).toMatchObject({ verdict: 'duplicate' })
  }
  const run = await deliver(engine, worker, 'evt_1')
  expect(claimed).not.toContain(run?.id)
})

test('a run claimed for other code may begin where nothing of it was written', async ({ engine }) => {
  const arrivalClaim = { worker: 'wrk_before', codeHashes: { 'follow-up': 'as it was loaded there' } }
  const delivery = incoming('evt_1', { arrivalClaim })
  const taken = listClaimedOnArrival(delivery, await engine.store.saveDelivery(delivery))
  for (const { lease } of taken) await engine.store.releaseRun(lease)
  const parked = engine.notices.once('run.parked')
  const napping = nap('follow-up')
  const worker = await engine.start([napping])
  await parked
  await worker.stop()
  const [run] = await engine.store.claimRuns('wrk_next', 1, NOW + 60_000)
  expect(run).toMatchObject({ isFirstPass: false, codeHash: codeHashOf(napping) })
})
