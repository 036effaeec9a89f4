import { expect } from 'vitest'
import type { AnyWorkflow } from '../../../src/author/workflow.ts'
import { Interrupted } from '../../../src/core/errors.ts'
import { planFork } from '../../../src/core/runs/step.ts'
import { type TestEngine, test } from '../../support/test-engine.ts'
import { define } from '../../support/workflows.ts'

/** A function whose first call never ends. */
function openPayment() {
  const begun = Promise.withResolvers<void>()
  let calls = 0
  const pay = () => {
    calls += 1
    begun.resolve()
    return calls === 1 ? new Promise<void>(() => {}) : undefined
  }
  return { pay, begun: begun.promise, countCalls: () => calls }
}

/** Ends the process while the payment of a run is at work; returns the run's id. */
async function cutOff(engine: TestEngine, workflow: AnyWorkflow, begun: Promise<void>): Promise<string> {
  const first = await engine.start([workflow], { drainMs: 0 })
  const gone = engine.run('once')
  await begun
  const [{ id } = { id: '' }] = await engine.store.listRuns({ limit: 1 })
  expect(await engine.store.listSteps(id)).toContainEqual(expect.objectContaining({ key: 'pay', status: 'started' }))
  engine.clock.advance(0)
  const stopped = first.stop()
  engine.clock.advance(1)
  await stopped
  await gone
  return id
}

test('P9: a `once` step does not begin again after its process died', async ({ engine }) => {
  const { pay, begun, countCalls } = openPayment()
  const workflow = define('once', async ({ step }) => {
    const error = await step.run('pay', pay, { once: true }).catch((error: unknown) => error)
    await step.sleep('nap', '1m')
    return { isInterrupted: error instanceof Interrupted, step: (error as Interrupted).step }
  })
  const id = await cutOff(engine, workflow, begun)
  await engine.start([workflow])
  await engine.notices.once('run.parked')
  const run = await engine.advance(id, '1m')
  expect(run).toMatchObject({ status: 'completed', output: '{"isInterrupted":true,"step":"pay"}' })
  expect(countCalls()).toBe(1)
})

test('P9: a `once` step that was cut off never begins again in a retry, nor in a fork from a later step', async ({
  engine,
}) => {
  const { pay, begun, countCalls } = openPayment()
  const workflow = define('once', async ({ step }) => {
    const paid = step.run('pay', pay, { once: true })
    await step.sleep('nap', '1m')
    await paid
  })
  const id = await cutOff(engine, workflow, begun)
  const { store, clock } = engine
  const fork = await store.forkRun(id, { keys: planFork(await store.listSteps(id), 'nap'), edited: null }, clock.now())
  await engine.start([workflow])
  for (const run of [id, fork]) {
    await engine.advance(run, '1m')
    expect(await store.retryRun(run, clock.now())).toBe(true)
    expect(await engine.passOf(run)).toMatchObject({ status: 'failed', error: { code: 'interrupted' } })
  }
  expect(countCalls()).toBe(1)
})

test('a `once` step that fails is not retried', async ({ engine }) => {
  let calls = 0
  await engine.serve('once', { retry: { attempts: 5 } }, ({ step }) =>
    step.run(
      'pay',
      () => {
        calls += 1
        throw new Error('declined')
      },
      { once: true },
    ),
  )
  expect(await engine.run('once')).toMatchObject({ status: 'failed' })
  expect(calls).toBe(1)
})

test('P9: a `once` step that threw never begins again in a retry, nor in a fork from a later step', async ({
  engine,
}) => {
  let calls = 0
  const { store, clock } = engine
  await engine.serve('once', async ({ step }) => {
    const pay = () => {
      calls += 1
      throw new Error('declined')
    }
    const write = () => Promise.reject(new Error('disk full'))
    const paid = step.run('pay', pay, { once: true }).catch(({ message }: Error) => message)
    await Promise.all([paid, step.run('write', write, { retry: { attempts: 1 } })])
  })
  const { id } = await engine.run('once')
  const fork = await store.forkRun(
    id,
    { keys: planFork(await store.listSteps(id), 'write'), edited: null },
    clock.now(),
  )
  await engine.passOf(fork)
  for (const run of [id, fork]) {
    expect(await store.retryRun(run, clock.now())).toBe(true)
    expect(await engine.passOf(run)).toMatchObject({ status: 'failed', error: { step: 'write' } })
  }
  expect(calls).toBe(1)
})

test('P9: a `once` step whose error failed its run throws it again in a retry', async ({ engine }) => {
  let calls = 0
  const { store, clock } = engine
  await engine.serve('once', ({ step }) =>
    step.run(
      'pay',
      () => {
        calls += 1
        throw new Error('no answer in time')
      },
      { once: true },
    ),
  )
  const { id } = await engine.run('once')
  expect(await store.retryRun(id, clock.now())).toBe(true)
  expect(await engine.passOf(id)).toMatchObject({ status: 'failed', error: { step: 'pay' } })
  expect(calls).toBe(1)
})
