import { expect } from 'vitest'
import { StepError, TerminalError } from '../../../src/core/errors.ts'
import { RetryAt } from '../../../src/core/runs/retry.ts'
import { test } from '../../support/test-engine.ts'
import { hang } from '../../support/workflows.ts'

test('steps run in order and their results are stored', async ({ engine }) => {
  await engine.serve('sum', { on: 'file.created' }, async ({ event, step }) => {
    const a = await step.run('a', () => 1)
    const b = await step.run('b', async () => 2, { effect: 'read', target: 'x' })
    return { id: event.id, sum: a + b }
  })
  const run = await engine.run('sum', 'evt_7')
  expect(run).toMatchObject({ status: 'completed', output: '{"id":"evt_7","sum":3}', error: null })
  expect(await engine.store.listSteps(run.id)).toMatchObject([
    { key: 'a', effect: 'write', status: 'completed', output: '1', attempt: 1 },
    { key: 'b', effect: 'read', status: 'completed', output: '2', target: 'x' },
  ])
})

test('a failed step is retried after its pause with the same idempotency key', async ({ engine }) => {
  const seen: string[] = []
  await engine.serve('flaky', { retry: { attempts: 3, min: '10s' } }, ({ step }) =>
    step.run('call', ({ attempt, idempotencyKey }) => {
      seen.push(`${attempt} ${idempotencyKey}`)
      if (attempt < 3) throw new Error(`attempt ${attempt} failed`)
      return 'ok'
    }),
  )
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

test('a step that fails its last attempt fails the run with its error', async ({ engine }) => {
  await engine.serve('hopeless', { retry: { attempts: 1 } }, ({ step }) =>
    step.run('call', () => Promise.reject(new Error('the disk is on fire'))),
  )
  const run = await engine.run('hopeless')
  expect(run).toMatchObject({ status: 'failed', error: { message: expect.stringContaining('the disk is on fire') } })
})

test('a TerminalError fails a step without another attempt', async ({ engine }) => {
  let calls = 0
  await engine.serve('final', ({ step }) =>
    step.run('call', () => {
      calls += 1
      throw new TerminalError('never')
    }),
  )
  expect(await engine.run('final')).toMatchObject({ status: 'failed' })
  expect(calls).toBe(1)
})

test('RetryAt delays a step until its moment and does not count as a failed attempt', async ({ engine }) => {
  let calls = 0
  await engine.serve('told', { retry: { attempts: 1 } }, ({ step }) =>
    step.run('call', () => {
      calls += 1
      if (calls < 4) throw new RetryAt(engine.clock.now() + 60_000)
      return calls
    }),
  )
  let run = await engine.run('told')
  for (let times = 0; times < 3; times++) {
    expect(run).toMatchObject({ status: 'waiting', dueAt: engine.clock.now() + 60_000 })
    run = await engine.advance(run.id, '1m')
  }
  expect(run).toMatchObject({ status: 'completed', output: '4' })
})

test('an author can catch a failed step, in a replay too', async ({ engine }) => {
  let calls = 0
  await engine.serve('forgiving', async ({ step }) => {
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
  })
  const parked = await engine.run('forgiving')
  const run = await engine.advance(parked.id, '1m')
  expect(run).toMatchObject({ status: 'completed', output: '{"isStepError":true,"message":"no"}' })
  expect(calls).toBe(1)
})

test('an attempt that exceeds its timeout fails and its signal aborts', async ({ engine }) => {
  const { workflow, started } = hang('slow', { retry: { attempts: 1 }, timeout: { step: '30s' } })
  await engine.start([workflow])
  const ended = engine.run('slow')
  const signal = await started
  engine.clock.advance('30s')
  expect(await ended).toMatchObject({ status: 'failed', error: { message: expect.stringContaining('30000 ms') } })
  expect(signal.aborted).toBe(true)
})
