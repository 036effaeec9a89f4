import { expect } from 'vitest'
import { z } from 'zod'
import { defineWorkflow } from '../../../src/author/define-workflow.ts'
import type { StepApi, StepContext } from '../../../src/author/steps/step-api.ts'
import { callable } from '../../../src/author/trigger.ts'
import type { Store } from '../../../src/core/store/store.ts'
import { crashEverywhere } from '../../../src/testing/crash-everywhere.ts'
import { createTestEngine, test } from '../../support/test-engine.ts'
import { define } from '../../support/workflows.ts'

const ONCE = { retry: { attempts: 1 } }
const fail = () => {
  throw new Error('no')
}

test('a run that fails gives its steps at work their signal, and ends after they have ended', async ({ engine }) => {
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

test('a step that the code does not await is joined, recorded and told', async ({ engine }) => {
  const latch = Promise.withResolvers<string>()
  await engine.serve('hasty', ({ step }) => {
    void step.run('left', () => latch.promise)
    setImmediate(() => latch.resolve('kept'))
    return 'early'
  })
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
  await engine.serve('overdue', { timeout: { run: '1m' }, onFailure: () => void order.push('onFailure') }, ({ step }) =>
    step.run('slow', async ({ signal }) => {
      begun.resolve()
      await new Promise((resolve) => signal.addEventListener('abort', resolve))
      order.push('signal')
      await latch.promise
      order.push('slow')
      return 'cleaned up'
    }),
  )
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

test('a run whose code has returned holds its place until the steps at work have ended', async ({ engine }) => {
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

const wait = { on: 'nobody.sends', timeout: '1m' } as const

/** Waits that a run leaves behind, and that fall due as its last step does. */
const LEFT: Record<string, (step: StepApi) => Promise<unknown>> = {
  'a sleep': (step) => step.sleep('left', '1m'),
  'a wait for an event': (step) => step.waitFor('left', wait),
  'a call of receive': (step) => step.receive('left', wait),
  'a run that it invoked': (step) => step.invoke('left', slowAnswer, null, { timeout: '1m' }),
  'a question': (step) => step.approve('left', { ask: 'Go on?', timeout: '1m' }),
  'the next attempt of a step': (step) => step.run('left', fail, { retry: { attempts: 2, min: '1m', max: '1m' } }),
  'items of a map': (step) => step.map('left', [1, 2], String, fail, { retry: { attempts: 2, min: '1m', max: '1m' } }),
  'code behind a sleep': (step) => step.sleep('left', '1m').then(() => step.run('more', () => 1)),
}
const slowAnswer = defineWorkflow({
  id: 'slow-answer',
  on: callable(z.any()),
  run: ({ step }) => step.sleep('s', '1h'),
})

test.each(Object.entries(LEFT))('%s that falls due as its run ends keeps back no notice', async (_, leave) => {
  const engine = createTestEngine()
  const racing = (id: string, end: () => unknown) =>
    defineWorkflow({
      id,
      on: '*',
      ...ONCE,
      run: async ({ step }) => {
        await Promise.race([leave(step).catch(() => {}), step.run('first', () => 1)])
        await step.sleep('last', '1m')
        return end()
      },
    })
  await engine.start([racing('returns', () => 'done'), racing('throws', fail), slowAnswer])
  for (const [id, kind] of [
    ['returns', 'run.completed'],
    ['throws', 'run.failed'],
  ] as const) {
    const parked = await engine.run(id, `evt_${id}`)
    expect(parked.status).toBe('waiting')
    await engine.advance(parked.id, '1m')
    expect(engine.heard).toContainEqual(expect.objectContaining({ kind, run: parked.id }))
  }
  expect(engine.heard.filter(({ kind }) => kind === 'fault' || kind === 'run.lost')).toEqual([])
})

/** Microtasks between such a call and the end of the code: each count meets it elsewhere. */
const HOPS = 12

/** Calls that code does not await just before it returns. */
const DETACHED: Record<string, (step: StepApi) => Promise<unknown>> = {
  'a sleep of no time': (step) => step.sleep('left', 0),
  'an event that it sends': (step) => step.send('left', 'nobody.waits', {}),
  'a patch': (step) => step.patched('left'),
  'a step': (step) => step.run('left', () => 1),
  'a step that fails': (step) => step.run('left', fail, ONCE).catch(() => {}),
  'a write': (step) => step.run('left', () => 1, { effect: 'write' }),
  'a map': (step) => step.map('left', [1], String, () => 1),
}

test.each(Object.entries(DETACHED))('%s that nobody awaits is recorded before its run ends', async (_, call) => {
  const engine = createTestEngine()
  let hops = 0
  await engine.serve('hasty', { on: 'file.created' }, async ({ step }) => {
    await step.run('first', () => 1)
    void call(step)
    for (let left = hops; left > 0; left--) await null
    return 'early'
  })
  for (; hops < HOPS; hops++) {
    const run = await engine.run('hasty', `evt_${hops}`)
    expect(run).toMatchObject({ status: 'completed' })
    const [, left] = await engine.store.listSteps(run.id)
    expect([hops, left?.key]).toEqual([hops, expect.stringContaining('left')])
    expect(left?.status).not.toBe('waiting')
  }
  expect(engine.heard.filter(({ kind }) => kind === 'fault')).toEqual([])
})

test('a row that fails by itself as its run ends keeps back no notice', async ({ engine }) => {
  const saveCheckpoint: Store['saveCheckpoint'] = () => Promise.reject(new Error('too large'))
  const run = ({ step }: { step: StepApi }) => step.run('only', () => 1, { effect: 'read' })
  await engine.start([define('odd', run)], { store: { ...engine.store, saveCheckpoint } })
  expect(await engine.run('odd')).toMatchObject({ status: 'completed' })
  const told = engine.heard.filter(({ kind }) => kind === 'fault' || kind === 'run.completed')
  expect(told).toMatchObject([{ kind: 'fault', error: { message: 'too large' } }, { kind: 'run.completed' }])
})

test('a sleep that falls due as its run ends does no harm where the run crashes', async () => {
  const race = define('race', async ({ step }) => {
    await Promise.race([step.sleep('a', '1m'), step.run('c', () => 1)])
    await step.sleep('last', '1m')
    return 1
  })
  const ended = await crashEverywhere({ workflows: [race] }, async (t) => {
    await t.send('file.created')
    await t.advance('1m')
    return t.run(race).output
  })
  expect(ended.value).toBe(1)
})
