import { expect } from 'vitest'
import { HEARTBEAT_MS } from '../../src/core/runs/lease.ts'
import { checkpoint, NOW, queueRun } from '../support/fixtures.ts'
import { type TestEngine, test } from '../support/test-engine.ts'
import { openTestStore } from '../support/test-store.ts'
import { define, hang } from '../support/workflows.ts'

test('a pass whose run was taken over does nothing more', async ({ engine }) => {
  const latch = Promise.withResolvers<void>()
  const started = Promise.withResolvers<void>()
  const done: string[] = []
  const worker = await engine.serve('slow', async ({ step }) => {
    await step.run('first', () => {
      started.resolve()
      return latch.promise
    })
    await step.run('second', () => done.push('second'))
  })
  const runId = await queueRun(engine.store, 'evt_1', 'slow')
  const lost = engine.notices.once('run.lost')
  worker.wake()
  await started.promise
  // While the first worker is in its step, another process takes the run for abandoned.
  const other = openTestStore(engine.folder)
  expect(await other.endWorker(worker.id)).toMatchObject({ count: 1 })
  const [taken] = await other.claimSuspects('wrk_other', 1, NOW)
  latch.resolve()
  await lost
  expect(done).toEqual([])
  expect(await other.listSteps(runId)).toEqual([])
  if (taken) await other.saveCheckpoint(taken.lease, checkpoint('first'))
  expect(await other.listSteps(runId)).toHaveLength(1)
})

/** A worker that tries five suspects, each of which hangs. */
async function tryFive(engine: TestEngine, aloneMs?: number) {
  const ids = await Promise.all(['a', 'b', 'c', 'd', 'e'].map((event) => queueRun(engine.store, event, 'hang')))
  await engine.store.startWorker('wrk_dead', NOW)
  await engine.store.claimRuns('wrk_dead', ids.length, NOW)
  await engine.store.endWorker('wrk_dead')
  const { workflow, started } = hang('hang')
  const worker = await engine.start([workflow], { suspects: 'only', drainMs: 0, ...(aloneMs && { aloneMs }) })
  await started
  return worker
}

test('a suspect is alone for ten seconds, and then as many begin as were found harmless', async ({ engine }) => {
  const worker = await tryFive(engine)
  engine.clock.advance('9s')
  worker.wake()
  await engine.store.listRuns({ limit: 1 })
  expect(worker.atWork).toHaveLength(1)
  engine.clock.advance('1s')
  for (const atWork of [2, 4, 5]) {
    await expect.poll(() => worker.atWork).toHaveLength(atWork)
    engine.clock.advance('10s')
  }
})

test('a suspect whose pass ends at once vouches for no other', async ({ engine }) => {
  const events = ['a', 'b', 'c', 'd', 'e', 'f', 'g', 'h']
  const ids = await Promise.all(events.map((event) => queueRun(engine.store, event, event < 'f' ? 'quick' : 'hang')))
  await engine.store.startWorker('wrk_dead', NOW)
  await engine.store.claimRuns('wrk_dead', ids.length, NOW)
  await engine.store.endWorker('wrk_dead')
  const { workflow, started } = hang('hang')
  const worker = await engine.start([define('quick', () => null), workflow], { suspects: 'only', drainMs: 0 })
  await started
  await expect.poll(() => engine.store.listRuns({ limit: 9, status: 'completed' })).toHaveLength(5)
  expect(worker.atWork).toEqual([ids[5]])
})

test('suspects that died together begin one after the other', async ({ engine }) => {
  const worker = await tryFive(engine, 40_000)
  for (const atWork of [1, 2, 3, 4, 5]) {
    await expect.poll(() => worker.atWork).toHaveLength(atWork)
    engine.clock.advance('40s')
  }
})

test('a stopping worker finishes the step at work and releases the run', async ({ engine }) => {
  const started = Promise.withResolvers<void>()
  const latch = Promise.withResolvers<string>()
  const calls: string[] = []
  const workflow = define('two-steps', async ({ step }) => {
    await step.run('first', () => {
      calls.push('first')
      started.resolve()
      return latch.promise
    })
    await step.run('second', () => calls.push('second'))
  })
  const worker = await engine.start([workflow])
  const ended = engine.run('two-steps')
  await started.promise
  const stopped = worker.stop()
  latch.resolve('done')
  await stopped
  const released = await ended
  expect(released).toMatchObject({ status: 'pending' })
  expect(calls).toEqual(['first'])

  const completed = engine.notices.once('run.completed')
  await engine.start([workflow])
  await completed
  expect(calls).toEqual(['first', 'second'])
})

test('a stopping worker ends a step that takes too long, and the run goes on elsewhere', async ({ engine }) => {
  const { workflow, started } = hang('hang')
  const worker = await engine.start([workflow], { drainMs: 0 })
  const runId = await queueRun(engine.store, 'evt_1', 'hang')
  worker.wake()
  const signal = await started
  const ends: string[] = []
  for (const kind of ['run.released', 'run.lost'] as const) engine.notices.subscribe(kind, () => ends.push(kind))
  await worker.stop()
  expect(signal.aborted).toBe(true)
  expect(await engine.store.findRun(runId)).toMatchObject({ status: 'pending' })
  // Nobody has taken it over.
  expect(ends).toEqual(['run.released'])
})

test('a stop waits for the commit of a recovery, and no other follows', async ({ engine }) => {
  const asked = Promise.withResolvers<void>()
  const commit = Promise.withResolvers<number>()
  let commits = 0
  const carryOutDecision = () => {
    commits += 1
    if (commits !== 2) return Promise.resolve(null)
    asked.resolve()
    return commit.promise
  }
  const worker = await engine.start([], { store: { ...engine.store, carryOutDecision } })
  engine.clock.advance(HEARTBEAT_MS)
  await asked.promise
  let isStopped = false
  const stopped = worker.stop().then(() => {
    isStopped = true
  })
  for (let turn = 0; turn < 50; turn += 1) await engine.store.listRuns({ limit: 1 })
  expect(isStopped).toBe(false)
  commit.resolve(1)
  await stopped
  expect(commits).toBe(2)
})
