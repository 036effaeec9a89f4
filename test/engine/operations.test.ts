import { expect, test } from 'vitest'
import { cron } from '../../src/author/cron.ts'
import { defineWorkflow } from '../../src/author/define-workflow.ts'
import { planFork } from '../../src/core/runs/step.ts'
import { NOW, queueRun } from '../support/fixtures.ts'
import { createTestEngine, type TestEngine } from '../support/test-engine.ts'
import { openTestStore } from '../support/test-store.ts'

const NO_RETRY = { attempts: 1 }

/** The first notice of a kind about another run than this one, heard already or still to come. */
async function hearOther(engine: TestEngine, kind: 'run.completed' | 'run.failed' | 'run.parked', runId: string) {
  const isMeant = (notice: { run: string }) => notice.run !== runId
  const heard = engine.heard.find((notice) => notice.kind === kind && isMeant(notice as { run: string }))
  return ((heard as { run: string } | undefined) ?? (await engine.notices.once(kind, isMeant))).run
}

test('follows a failure with a durable run of its own that knows the error, the event and the run', async () => {
  const engine = createTestEngine()
  const told: unknown[] = []
  let naps = 0
  await engine.start([
    defineWorkflow({
      id: 'careful',
      on: 'file.created',
      retry: NO_RETRY,
      run: ({ step }) =>
        step.run('copy', () => {
          throw new Error('the disk is full')
        }),
      onFailure: async ({ error, event, failed, run, step }) => {
        await step.run('tell', () => told.push([error.message, error.step, event.id, failed.id, run.id]))
        await step.sleep('nap', '1m')
        naps += 1
        return 'told'
      },
    }),
  ])
  const failed = await engine.run('careful')
  expect(failed).toMatchObject({ status: 'failed' })
  const followUp = await engine.advance(await hearOther(engine, 'run.parked', failed.id), '1m')
  expect(followUp).toMatchObject({ status: 'completed', output: '"told"', originRun: failed.id, handler: 'onFailure' })
  expect(told).toEqual([
    ['step "copy" failed after 1 attempt(s): the disk is full', 'copy', 'evt_1', failed.id, followUp.id],
  ])
  expect(naps).toBe(1)
})

test('follows a failing onFailure with nothing, a canceled run neither, and asks no `where` again', async () => {
  const engine = createTestEngine()
  const fail = () => {
    throw new Error('always')
  }
  let asked = 0
  await engine.start([
    defineWorkflow({
      id: 'hopeless',
      on: '*',
      retry: NO_RETRY,
      where: () => ++asked > 0,
      run: fail,
      onFailure: fail,
    }),
  ])
  const first = await engine.run('hopeless')
  await hearOther(engine, 'run.failed', first.id)
  expect(await engine.store.listRuns({ limit: 9 })).toMatchObject([
    { status: 'failed', handler: 'onFailure', originRun: first.id },
    { status: 'failed', handler: 'run' },
  ])
  expect(asked).toBe(1)
  const canceled = await queueRun(engine.store, 'evt_2', 'other')
  await engine.store.cancelRun(canceled, 'by hand', NOW)
  expect(await engine.store.listRuns({ limit: 9, originRun: canceled })).toEqual([])
})

test('tells onFailure of a cron workflow its tick', async () => {
  const engine = createTestEngine()
  const worker = await engine.start([
    defineWorkflow({
      id: 'nightly',
      on: cron('0 3 * * *'),
      retry: NO_RETRY,
      run: () => {
        throw new Error('no')
      },
      onFailure: ({ tick }) => tick.scheduledFor.getTime(),
    }),
  ])
  const run = await engine.store.recordTick('nightly', { scheduledFor: NOW, missed: 0 }, NOW)
  worker.wake()
  const followUp = await hearOther(engine, 'run.completed', run ?? '')
  expect(await engine.store.findRun(followUp)).toMatchObject({ output: String(NOW), originRun: run })
})

test('goes on from the failed step when a run is taken up again', async () => {
  const engine = createTestEngine()
  const done: string[] = []
  let isMended = false
  let optionalCalls = 0
  const worker = await engine.start([
    defineWorkflow({
      id: 'long',
      on: '*',
      retry: NO_RETRY,
      run: async ({ step }) => {
        await step.run('a', () => done.push('a'))
        const caught = await step
          .run('optional', () => {
            optionalCalls += 1
            throw new Error('never mind')
          })
          .catch(() => 'without')
        await step.run('b', () => done.push('b'))
        await Promise.all(
          ['x', 'y'].map((key) =>
            step.run(['side', key], () => {
              if (!isMended) throw new Error('not yet')
              return done.push(key)
            }),
          ),
        )
        return caught
      },
    }),
  ])
  const failed = await engine.run('long')
  expect(failed).toMatchObject({ status: 'failed', error: { step: 'side[x]' } })
  isMended = true
  const completed = engine.notices.once('run.completed')
  expect(await engine.store.retryRun(failed.id)).toBe(true)
  worker.wake()
  await completed
  expect(await engine.store.findRun(failed.id)).toMatchObject({ status: 'completed', output: '"without"' })
  expect(done).toEqual(['a', 'b', 'x', 'y'])
  // The code went on without it: what it decided stays decided.
  expect(optionalCalls).toBe(1)
})

test('runs a fork from a step on, with the result that was put in the place of one', async () => {
  const engine = createTestEngine()
  const done: string[] = []
  const worker = await engine.start([
    defineWorkflow({
      id: 'sum',
      on: '*',
      run: async ({ step }) => {
        const a = await step.run('a', () => done.push('a'))
        const b = await step.run('b', () => done.push('b') * 10)
        return step.run('c', () => done.push('c') && a + b)
      },
    }),
  ])
  const first = await engine.run('sum')
  expect(first).toMatchObject({ output: '21' })
  const keys = planFork(await engine.store.listSteps(first.id), 'b')
  expect(keys).toEqual(['a'])
  const completed = engine.notices.once('run.completed')
  const fork = await engine.store.forkRun(first.id, { keys, edited: { key: 'b', output: '500' } }, NOW)
  worker.wake()
  await completed
  expect(await engine.store.findRun(fork)).toMatchObject({ status: 'completed', output: '501', originRun: first.id })
  expect(done).toEqual(['a', 'b', 'c', 'c'])
})

test('aborts a pass whose run was canceled in another process, once it looks', async () => {
  const engine = createTestEngine()
  const started = Promise.withResolvers<AbortSignal>()
  const gate = Promise.withResolvers<void>()
  const worker = await engine.start([
    defineWorkflow({
      id: 'hang',
      on: '*',
      run: ({ step }) =>
        step.run('hang', ({ signal }) => {
          started.resolve(signal)
          return new Promise(() => {})
        }),
    }),
    defineWorkflow({ id: 'other', on: '*', run: ({ step }) => step.run('wait', () => gate.promise) }),
  ])
  const hanging = engine.run('hang')
  const unharmed = engine.run('other', 'evt_2')
  const signal = await started.promise
  await worker.checkLeases()
  expect(signal.aborted).toBe(false)
  const other = openTestStore(engine.folder)
  const [run] = await other.listRuns({ limit: 1, workflow: 'hang' })
  await other.cancelRun(run?.id ?? '', 'by hand', NOW)
  await worker.checkLeases()
  expect(signal.aborted).toBe(true)
  expect(await hanging).toMatchObject({ status: 'canceled' })
  gate.resolve()
  expect(await unharmed).toMatchObject({ status: 'completed' })
})

test('looks for canceled runs with each heartbeat, hint or not', async () => {
  const engine = createTestEngine()
  const started = Promise.withResolvers<AbortSignal>()
  await engine.start([
    defineWorkflow({
      id: 'hang',
      on: '*',
      run: ({ step }) =>
        step.run('hang', ({ signal }) => {
          started.resolve(signal)
          return new Promise(() => {})
        }),
    }),
  ])
  const ended = engine.run('hang')
  await started.promise
  const [run] = await engine.store.listRuns({ limit: 1 })
  await openTestStore(engine.folder).cancelRun(run?.id ?? '', 'by hand', NOW)
  engine.clock.advance('5s')
  expect(await ended).toMatchObject({ status: 'canceled' })
})

test('parks a run whose body is pruned and says so', async () => {
  const engine = createTestEngine()
  await engine.start([
    defineWorkflow({
      id: 'flaky',
      on: '*',
      retry: NO_RETRY,
      run: () => {
        throw new Error('once')
      },
    }),
  ])
  const failed = await engine.run('flaky')
  await engine.store.prune({ kind: 'payloads', before: NOW + 1, limit: 10, after: null })
  await engine.store.retryRun(failed.id)
  expect(await engine.advance(failed.id, '1s')).toMatchObject({
    status: 'waiting',
    dueAt: null,
    reason: 'the body of its event evt_1 is pruned',
  })
})
