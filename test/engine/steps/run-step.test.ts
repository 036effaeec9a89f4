import { expect } from 'vitest'
import { RetryAt } from '../../../src/core/runs/retry.ts'
import { test } from '../../support/test-engine.ts'
import { hang } from '../../support/workflows.ts'

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

test('an attempt that exceeds its timeout fails and its signal aborts', async ({ engine }) => {
  const { workflow, started } = hang('slow', { retry: { attempts: 1 }, timeout: { step: '30s' } })
  await engine.start([workflow])
  const ended = engine.run('slow')
  const signal = await started
  engine.clock.advance('30s')
  expect(await ended).toMatchObject({ status: 'failed', error: { message: expect.stringContaining('30000 ms') } })
  expect(signal.aborted).toBe(true)
})
