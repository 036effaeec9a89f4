import { expect } from 'vitest'
import { test } from '../../support/test-engine.ts'

test("an author's catch cannot swallow a park", async ({ engine }) => {
  await engine.serve('greedy', async ({ step }) => {
    try {
      await step.sleep('nap', '1m')
      return 'slept'
    } catch {
      return 'swallowed'
    }
  })
  const parked = await engine.run('greedy')
  expect(parked.status).toBe('waiting')
  expect(await engine.advance(parked.id, '1m')).toMatchObject({ output: '"slept"' })
})

test('parallel steps park their run only when none of them is at work', async ({ engine }) => {
  const latch = Promise.withResolvers<string>()
  await engine.serve('both', async ({ step }) => {
    const [slow] = await Promise.all([
      step.run('slow', () => latch.promise),
      step.sleep('nap', '1m'),
      step.run('flaky', ({ attempt }) => {
        if (attempt === 1) throw new Error('once')
      }),
    ])
    return slow
  })
  const ended = engine.run('both')
  await engine.notices.once('step.failed')
  latch.resolve('slow is done')
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
