import { expect, test } from 'vitest'
import { defineWorkflow } from '../../../src/author/define-workflow.ts'
import type { StepContext } from '../../../src/author/step-api.ts'
import { createTestEngine } from '../../support/test-engine.ts'

const ONCE = { retry: { attempts: 1 } }
const fail = () => {
  throw new Error('no')
}

test('a run that fails gives its steps at work their signal, and ends after they have ended', async () => {
  const engine = createTestEngine()
  const order: string[] = []
  const latch = Promise.withResolvers<void>()
  const slow = async ({ signal }: StepContext) => {
    await new Promise((resolve) => signal.addEventListener('abort', resolve))
    order.push('signal')
    await latch.promise
    order.push('slow')
    return 'cleaned up'
  }
  await engine.start([
    defineWorkflow({
      id: 'joined',
      on: '*',
      ...ONCE,
      run: ({ step }) => Promise.all([step.run('slow', slow), step.run('bad', fail, ONCE)]),
      onFailure: () => void order.push('onFailure'),
    }),
  ])
  setImmediate(() => setImmediate(() => latch.resolve()))
  const handled = engine.notices.once('run.completed')
  const run = await engine.run('joined')
  await handled
  expect(run).toMatchObject({ status: 'failed', error: { step: 'bad' } })
  expect(order).toEqual(['signal', 'slow', 'onFailure'])
  expect(await engine.store.listSteps(run.id)).toMatchObject([
    { key: 'slow', status: 'completed', output: '"cleaned up"' },
    { key: 'bad', status: 'failed' },
  ])
})

test('a step that the code does not await is joined, recorded and told', async () => {
  const engine = createTestEngine()
  const latch = Promise.withResolvers<string>()
  await engine.start([
    defineWorkflow({
      id: 'hasty',
      on: '*',
      run: ({ step }) => {
        void step.run('left', () => latch.promise)
        setImmediate(() => latch.resolve('kept'))
        return 'early'
      },
    }),
  ])
  const run = await engine.run('hasty')
  expect(run).toMatchObject({ status: 'completed', output: '"early"' })
  expect(await engine.store.listSteps(run.id)).toMatchObject([{ key: 'left', status: 'completed', output: '"kept"' }])
  expect(engine.heard.filter(({ kind }) => kind === 'step.joined')).toMatchObject([
    {
      run: run.id,
      step: 'left',
      place: expect.stringMatching(/^test\/engine\/execute\/join-steps\.test\.ts:\d+:\d+$/),
    },
  ])
})

test('a run over its time gives its steps at work their signal, and fails after they have ended', async () => {
  const engine = createTestEngine()
  const begun = Promise.withResolvers<void>()
  const latch = Promise.withResolvers<void>()
  const order: string[] = []
  await engine.start([
    defineWorkflow({
      id: 'overdue',
      on: '*',
      timeout: { run: '1m' },
      run: ({ step }) =>
        step.run('slow', async ({ signal }) => {
          begun.resolve()
          await new Promise((resolve) => signal.addEventListener('abort', resolve))
          order.push('signal')
          await latch.promise
          order.push('slow')
          return 'cleaned up'
        }),
      onFailure: () => void order.push('onFailure'),
    }),
  ])
  const ended = engine.run('overdue')
  await begun.promise
  const handled = engine.notices.once('run.completed')
  engine.clock.advance('1m')
  setImmediate(() => setImmediate(() => latch.resolve()))
  const run = await ended
  await handled
  expect(run).toMatchObject({ status: 'failed', error: { code: 'run_timeout' } })
  expect(order).toEqual(['signal', 'slow', 'onFailure'])
  expect(await engine.store.listSteps(run.id)).toMatchObject([{ key: 'slow', status: 'completed' }])
})

test('a run whose code has returned holds its place until the steps at work have ended', async () => {
  const engine = createTestEngine()
  let atWork = 0
  let most = 0
  await engine.start([
    defineWorkflow({
      id: 'single',
      on: '*',
      ...ONCE,
      concurrency: { limit: 1 },
      run: ({ step }) => {
        const turns = async () => {
          most = Math.max(most, ++atWork)
          for (let each = 0; each < 20; each++) await new Promise(setImmediate)
          atWork -= 1
        }
        void step.run('work', turns)
        throw new Error('at once')
      },
    }),
  ])
  const ended = Promise.withResolvers<void>()
  let count = 0
  engine.notices.subscribe('run.failed', () => void (++count === 3 && ended.resolve()))
  const runs = [engine.run('single', 'evt_1'), engine.run('single', 'evt_2'), engine.run('single', 'evt_3')]
  await ended.promise
  await Promise.all(runs)
  expect(most).toBe(1)
})
