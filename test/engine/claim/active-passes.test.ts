import { expect } from 'vitest'
import type { StepApi } from '../../../src/author/index.ts'
import type { Store } from '../../../src/core/store/store.ts'
import { LimitedRuns } from '../../../src/store/limited-runs.ts'
import { NOW, queueRun } from '../../support/fixtures.ts'
import { createTestEngine, test } from '../../support/test-engine.ts'
import { openTestStore } from '../../support/test-store.ts'
import { define, hang } from '../../support/workflows.ts'

test('a pass whose run another process canceled is aborted when its lease is checked', async ({ engine }) => {
  const { workflow, started } = hang('hang')
  const latch = Promise.withResolvers<void>()
  const worker = await engine.start([workflow, define('other', ({ step }) => step.run('wait', () => latch.promise))])
  const hanging = engine.run('hang')
  const unharmed = engine.run('other', 'evt_2')
  const signal = await started
  await worker.checkLeases()
  expect(signal.aborted).toBe(false)
  const other = openTestStore(engine.folder)
  const [run] = await other.listRuns({ limit: 1, workflow: 'hang' })
  await other.cancelRun(run?.id ?? '', 'by hand', NOW)
  await worker.checkLeases()
  expect(signal.aborted).toBe(true)
  expect(await hanging).toMatchObject({ status: 'canceled' })
  latch.resolve()
  expect(await unharmed).toMatchObject({ status: 'completed' })
})

test('the last write of a canceled pass has the store forget that its run held a slot', async () => {
  const limited = new LimitedRuns()
  const store = openTestStore()
  const engine = createTestEngine({ ...limited.watchAll(store), folder: store.folder } as typeof store)
  const { workflow, started } = hang('hang')
  const worker = await engine.start([{ ...workflow, concurrency: { limit: 1 } }])
  const canceled = engine.run('hang')
  await started
  expect(limited.isEmpty).toBe(false)
  const other = openTestStore(engine.folder)
  const [run] = await other.listRuns({ limit: 1 })
  await other.cancelRun(run?.id ?? '', 'by hand', NOW)
  await worker.checkLeases()
  expect(await canceled).toMatchObject({ status: 'canceled' })
  expect(limited.isEmpty).toBe(true)
})

test('each heartbeat checks for canceled runs', async ({ engine }) => {
  const { workflow, started } = hang('hang')
  await engine.start([workflow])
  const ended = engine.run('hang')
  await started
  const [run] = await engine.store.listRuns({ limit: 1 })
  await openTestStore(engine.folder).cancelRun(run?.id ?? '', 'by hand', NOW)
  engine.clock.advance('5s')
  expect(await ended).toMatchObject({ status: 'canceled' })
})

test('a worker that claims a run again ends its own earlier pass of it first, and keeps all its slots', async () => {
  const engine = createTestEngine()
  const first = Promise.withResolvers<AbortSignal>()
  const latch = Promise.withResolvers<void>()
  const begun: string[] = []
  const lost = engine.notices.once('run.lost')
  const twoSteps = define('two-steps', async ({ step }) => {
    await step.run('one', async ({ signal }) => {
      begun.push('one')
      first.resolve(signal)
      await latch.promise
      begun.push('one has ended')
    })
    await step.run('two', () => void begun.push('two'))
  })
  const both = Promise.withResolvers<void>()
  let met = 0
  const run = ({ step }: { step: StepApi }) => step.run('meet', () => (++met === 2 ? both.resolve() : both.promise))
  const worker = await engine.start([twoSteps, define('meet', run)], { slots: 2 })
  const runId = await queueRun(engine.store, 'evt_1', 'two-steps')
  worker.wake()
  const signal = await first.promise
  // A worker that was frozen for a while counts as dead for the others, and does not know of it.
  await openTestStore(engine.folder).stopWorker(worker.id)
  worker.wake()
  await lost
  expect(signal.aborted).toBe(true)
  expect(begun).toEqual(['one'])
  latch.resolve()
  expect(await engine.passOf(runId)).toMatchObject({ status: 'completed' })
  expect(begun).toEqual(['one', 'one has ended', 'one', 'one has ended', 'two'])
  await Promise.all([engine.run('meet', 'evt_2'), engine.run('meet', 'evt_3')])
})

test('a step that waits for the disk does not begin once its pass has ended', async ({ engine }) => {
  const saving = Promise.withResolvers<void>()
  const latch = Promise.withResolvers<void>()
  const begun: number[] = []
  let saves = 0
  const store: Store = {
    ...engine.store,
    async saveCheckpoint(...args) {
      await engine.store.saveCheckpoint(...args)
      if (saves++ > 0) return
      // It is on disk, and its answer is late.
      saving.resolve()
      await latch.promise
    },
  }
  const workflow = define('read-then-write', async ({ step }) => {
    await step.run('look', () => 1, { effect: 'read' })
    await step.run('act', ({ attempt }) => void begun.push(attempt))
  })
  const worker = await engine.start([workflow], { store })
  const runId = await queueRun(engine.store, 'evt_1', 'read-then-write')
  worker.wake()
  await saving.promise
  await openTestStore(engine.folder).stopWorker(worker.id)
  const lost = engine.notices.once('run.lost')
  worker.wake()
  await lost
  latch.resolve()
  expect(await engine.passOf(runId)).toMatchObject({ status: 'completed' })
  expect(begun).toEqual([1])
})
