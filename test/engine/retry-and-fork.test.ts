import { expect } from 'vitest'
import { planFork } from '../../src/core/runs/step.ts'
import { NOW } from '../support/fixtures.ts'
import { test } from '../support/test-engine.ts'

const NO_RETRY = { attempts: 1 }

test('a retried run goes on from its failed step', async ({ engine }) => {
  const done: string[] = []
  let isMended = false
  let optionalCalls = 0
  const worker = await engine.serve('long', { retry: NO_RETRY }, async ({ step }) => {
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
  })
  const failed = await engine.run('long')
  expect(failed).toMatchObject({ status: 'failed', error: { step: 'side[x]' } })
  isMended = true
  const completed = engine.notices.once('run.completed')
  expect(await engine.store.retryRun(failed.id, engine.clock.now())).toBe(true)
  worker.wake()
  await completed
  expect(await engine.store.findRun(failed.id)).toMatchObject({ status: 'completed', output: '"without"' })
  expect(done).toEqual(['a', 'b', 'x', 'y'])
  // The code went on without it: what it decided stays decided.
  expect(optionalCalls).toBe(1)
})

test('a fork runs from a step on, with an edited result in place of one', async ({ engine }) => {
  const done: string[] = []
  const worker = await engine.serve('sum', async ({ step }) => {
    const a = await step.run('a', () => done.push('a'))
    const b = await step.run('b', () => done.push('b') * 10)
    return step.run('c', () => done.push('c') && a + b)
  })
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
