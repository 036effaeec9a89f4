import { expect } from 'vitest'
import { Interrupted } from '../../../src/core/errors.ts'
import { test } from '../../support/test-engine.ts'
import { define } from '../../support/workflows.ts'

test('P9: a `once` step does not begin again after its process died', async ({ engine }) => {
  let calls = 0
  const begun = Promise.withResolvers<void>()
  const workflow = define('once', async ({ step }) => {
    const pay = () => {
      calls += 1
      begun.resolve()
      return new Promise<void>(() => {})
    }
    const error = await step.run('pay', pay, { once: true }).catch((error: unknown) => error)
    await step.sleep('nap', '1m')
    return { isInterrupted: error instanceof Interrupted, step: (error as Interrupted).step }
  })
  const first = await engine.start([workflow], { drainMs: 0 })
  const gone = engine.run('once')
  await begun.promise
  const [{ id } = { id: '' }] = await engine.store.listRuns({ limit: 1 })
  expect(await engine.store.listSteps(id)).toMatchObject([{ key: 'pay', status: 'started' }])
  engine.clock.advance(0)
  const stopped = first.stop()
  engine.clock.advance(1)
  await stopped
  await gone
  await engine.start([workflow])
  await engine.notices.once('run.parked')
  const run = await engine.advance(id, '1m')
  expect(run).toMatchObject({ status: 'completed', output: '{"isInterrupted":true,"step":"pay"}' })
  expect(calls).toBe(1)
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
