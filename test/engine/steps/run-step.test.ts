import { expect, test } from 'vitest'
import { defineWorkflow } from '../../../src/author/define-workflow.ts'
import { RetryAt, StepError, TerminalError } from '../../../src/core/errors.ts'
import { createTestEngine } from '../../support/test-engine.ts'

test('runs the steps in order and keeps what they returned', async () => {
  const engine = createTestEngine()
  await engine.start([
    defineWorkflow({
      id: 'sum',
      on: 'file.created',
      run: async ({ event, step }) => {
        const a = await step.run('a', () => 1)
        const b = await step.run('b', async () => 2, { effect: 'read', target: 'x' })
        return { id: event.id, sum: a + b }
      },
    }),
  ])
  const run = await engine.run('sum', 'evt_7')
  expect(run).toMatchObject({ status: 'completed', output: '{"id":"evt_7","sum":3}', error: null })
  expect(await engine.store.listSteps(run.id)).toMatchObject([
    { key: 'a', effect: 'write', status: 'completed', output: '1', attempt: 1 },
    { key: 'b', effect: 'read', status: 'completed', output: '2', target: 'x' },
  ])
})

test('P4: sleeps without a worker and never runs a finished step again', async () => {
  const engine = createTestEngine()
  let calls = 0
  await engine.start([
    defineWorkflow({
      id: 'nap',
      on: '*',
      run: async ({ step }) => {
        const before = await step.run('before', () => ++calls)
        await step.sleep('grace', '15m')
        return before
      },
    }),
  ])
  const parked = await engine.run('nap')
  expect(parked).toMatchObject({ status: 'waiting', reason: 'sleeps in step "grace"' })
  expect(parked.dueAt).toBe(engine.clock.now() + 15 * 60_000)
  expect(await engine.advance(parked.id, '15m')).toMatchObject({ status: 'completed', output: '1' })
  expect(calls).toBe(1)
})

test('does not wake a sleeping run early, whatever happens around it', async () => {
  const engine = createTestEngine()
  await engine.start([
    defineWorkflow({ id: 'nap', on: '*', run: ({ step }) => step.sleep('grace', '15m') }),
    defineWorkflow({ id: 'other', on: '*', run: () => 'done' }),
  ])
  const parked = await engine.run('nap')
  engine.clock.advance('14m')
  await engine.run('other', 'evt_2')
  expect(await engine.store.findRun(parked.id)).toMatchObject({ status: 'waiting' })
})

test('sleeps until a moment, and not at all when it has passed', async () => {
  const engine = createTestEngine()
  await engine.start([
    defineWorkflow({
      id: 'until',
      on: '*',
      run: async ({ step }) => {
        await step.sleepUntil('past', engine.clock.now() - 1)
        await step.sleepUntil('soon', new Date(engine.clock.now() + 1_000))
      },
    }),
  ])
  const parked = await engine.run('until')
  expect(parked.reason).toContain('"soon"')
  expect(await engine.advance(parked.id, '1s')).toMatchObject({ status: 'completed' })
})

test('tries a failed step again after its pause, with the same idempotency key', async () => {
  const engine = createTestEngine()
  const seen: string[] = []
  await engine.start([
    defineWorkflow({
      id: 'flaky',
      on: '*',
      retry: { attempts: 3, min: '10s' },
      run: ({ step }) =>
        step.run('call', ({ attempt, idempotencyKey }) => {
          seen.push(`${attempt} ${idempotencyKey}`)
          if (attempt < 3) throw new Error(`attempt ${attempt} failed`)
          return 'ok'
        }),
    }),
  ])
  const first = await engine.run('flaky')
  expect(first).toMatchObject({ status: 'waiting', dueAt: engine.clock.now() + 5_000 })
  const second = await engine.advance(first.id, '5s')
  expect(second).toMatchObject({ status: 'waiting', dueAt: engine.clock.now() + 10_000 })
  expect(await engine.advance(first.id, '10s')).toMatchObject({ status: 'completed', output: '"ok"' })
  expect(seen).toEqual([1, 2, 3].map((attempt) => `${attempt} ${first.id}/call`))
  expect(await engine.store.listStepFailures(first.id)).toMatchObject([
    { key: 'call', attempt: 1, error: { message: 'attempt 1 failed' } },
    { key: 'call', attempt: 2 },
  ])
})

test('gives a step up after its last attempt and fails the run with what happened', async () => {
  const engine = createTestEngine()
  await engine.start([
    defineWorkflow({
      id: 'hopeless',
      on: '*',
      retry: { attempts: 1 },
      run: ({ step }) => step.run('call', () => Promise.reject(new Error('the disk is on fire'))),
    }),
  ])
  const run = await engine.run('hopeless')
  expect(run).toMatchObject({ status: 'failed', error: { message: expect.stringContaining('the disk is on fire') } })
})

test('gives up at once on a TerminalError', async () => {
  const engine = createTestEngine()
  let calls = 0
  await engine.start([
    defineWorkflow({
      id: 'final',
      on: '*',
      run: ({ step }) =>
        step.run('call', () => {
          calls += 1
          throw new TerminalError('never')
        }),
    }),
  ])
  expect(await engine.run('final')).toMatchObject({ status: 'failed' })
  expect(calls).toBe(1)
})

test('waits as long as RetryAt says and does not count it as a failed attempt', async () => {
  const engine = createTestEngine()
  let calls = 0
  await engine.start([
    defineWorkflow({
      id: 'told',
      on: '*',
      retry: { attempts: 1 },
      run: ({ step }) =>
        step.run('call', () => {
          calls += 1
          if (calls < 4) throw new RetryAt(engine.clock.now() + 60_000)
          return calls
        }),
    }),
  ])
  let run = await engine.run('told')
  for (let times = 0; times < 3; times++) {
    expect(run).toMatchObject({ status: 'waiting', dueAt: engine.clock.now() + 60_000 })
    run = await engine.advance(run.id, '1m')
  }
  expect(run).toMatchObject({ status: 'completed', output: '4' })
})

test('lets the author catch a failed step, in the replay too', async () => {
  const engine = createTestEngine()
  let calls = 0
  await engine.start([
    defineWorkflow({
      id: 'forgiving',
      on: '*',
      run: async ({ step }) => {
        const caught = await step
          .run(
            'call',
            () => {
              calls += 1
              throw new Error('no')
            },
            { retry: { attempts: 1 } },
          )
          .catch((error: StepError) => error)
        await step.sleep('nap', '1m')
        return { isStepError: caught instanceof StepError, message: (caught as StepError).failure.message }
      },
    }),
  ])
  const parked = await engine.run('forgiving')
  const run = await engine.advance(parked.id, '1m')
  expect(run).toMatchObject({ status: 'completed', output: '{"isStepError":true,"message":"no"}' })
  expect(calls).toBe(1)
})

test("an author's catch cannot swallow a park", async () => {
  const engine = createTestEngine()
  await engine.start([
    defineWorkflow({
      id: 'greedy',
      on: '*',
      run: async ({ step }) => {
        try {
          await step.sleep('nap', '1m')
          return 'slept'
        } catch {
          return 'swallowed'
        }
      },
    }),
  ])
  const parked = await engine.run('greedy')
  expect(parked.status).toBe('waiting')
  expect(await engine.advance(parked.id, '1m')).toMatchObject({ output: '"slept"' })
})

test('runs steps side by side and parks only when none is at work', async () => {
  const engine = createTestEngine()
  const gate = Promise.withResolvers<string>()
  await engine.start([
    defineWorkflow({
      id: 'both',
      on: '*',
      run: async ({ step }) => {
        const [slow] = await Promise.all([
          step.run('slow', () => gate.promise),
          step.sleep('nap', '1m'),
          step.run('flaky', ({ attempt }) => {
            if (attempt === 1) throw new Error('once')
          }),
        ])
        return slow
      },
    }),
  ])
  const ended = engine.run('both')
  await engine.notices.once('step.failed')
  gate.resolve('slow is done')
  const parked = await ended
  expect(parked.status).toBe('waiting')
  const retried = await engine.advance(parked.id, '30s')
  expect(retried.reason).toBe('sleeps in step "nap"')
  expect(await engine.advance(parked.id, '30s')).toMatchObject({ status: 'completed', output: '"slow is done"' })
  const steps = await engine.store.listSteps(parked.id)
  expect(steps.map((step) => [step.key, step.status])).toEqual([
    ['slow', 'completed'],
    ['nap', 'completed'],
    ['flaky', 'completed'],
  ])
})

test('keeps each turn of a loop apart by its key', async () => {
  const engine = createTestEngine()
  const done: string[] = []
  await engine.start([
    defineWorkflow({
      id: 'loop',
      on: '*',
      run: async ({ step }) => {
        for (const file of ['b', 'a']) await step.run(['copy', file], () => done.push(file))
        await step.sleep('nap', '1m')
        for (const file of ['a', 'c', 'b']) await step.run(['copy', file], () => done.push(file))
      },
    }),
  ])
  const parked = await engine.run('loop')
  await engine.advance(parked.id, '1m')
  expect((await engine.store.listSteps(parked.id)).map((step) => step.key)).toEqual([
    'copy[b]',
    'copy[a]',
    'nap',
    'copy[a]#2',
    'copy[c]',
    'copy[b]#2',
  ])
})

test('stops an attempt that takes too long and tells it so', async () => {
  const engine = createTestEngine()
  const started = Promise.withResolvers<AbortSignal>()
  await engine.start([
    defineWorkflow({
      id: 'slow',
      on: '*',
      retry: { attempts: 1 },
      timeout: { step: '30s' },
      run: ({ step }) =>
        step.run('hang', ({ signal }) => {
          started.resolve(signal)
          return new Promise(() => {})
        }),
    }),
  ])
  const ended = engine.run('slow')
  const signal = await started.promise
  engine.clock.advance('30s')
  expect(await ended).toMatchObject({ status: 'failed', error: { message: expect.stringContaining('30000 ms') } })
  expect(signal.aborted).toBe(true)
})

test('remembers time, chance and ids across a replay', async () => {
  const engine = createTestEngine()
  const passes: unknown[] = []
  await engine.start([
    defineWorkflow({
      id: 'memory',
      on: '*',
      run: async ({ step, now, random, uuid }) => {
        const seen = [now(), random(), random(), uuid()]
        passes.push(seen)
        await step.sleep('nap', '1h')
        return now() - Number(seen[0])
      },
    }),
  ])
  const parked = await engine.run('memory')
  expect(await engine.advance(parked.id, '1h')).toMatchObject({ output: '3600000' })
  expect(passes).toHaveLength(2)
  expect(passes[0]).toEqual(passes[1])
  const [, first, second, uuid] = passes[0] as [number, number, number, string]
  expect(first).not.toBe(second)
  expect(uuid).toMatch(/^[0-9a-f]{8}-[0-9a-f]{4}-8[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/)
})

test('logs once: a replay is silent until it reaches new ground', async () => {
  const engine = createTestEngine()
  await engine.start([
    defineWorkflow({
      id: 'chatty',
      on: '*',
      run: async ({ step, log }) => {
        log.info('before')
        await step.run('a', () => 1)
        log.info('between', { n: 1 })
        await step.sleep('nap', '1m')
        log.info('after')
      },
    }),
  ])
  const parked = await engine.run('chatty')
  await engine.advance(parked.id, '1m')
  const lines = engine.heard.flatMap((notice) => (notice.kind === 'run.log' ? [notice.message] : []))
  expect(lines).toEqual(['before', 'between', 'after'])
})
