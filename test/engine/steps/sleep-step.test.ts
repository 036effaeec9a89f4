import { expect } from 'vitest'
import { test } from '../../support/test-engine.ts'
import { define } from '../../support/workflows.ts'

test('P4: a sleeping run needs no worker, and its finished steps never run again', async ({ engine }) => {
  let calls = 0
  await engine.serve('nap', async ({ step }) => {
    const before = await step.run('before', () => ++calls)
    await step.sleep('grace', '15m')
    return before
  })
  const parked = await engine.run('nap')
  expect(parked).toMatchObject({ status: 'waiting', reason: 'sleeps in step "grace"' })
  expect(parked.dueAt).toBe(engine.clock.now() + 15 * 60_000)
  expect(await engine.advance(parked.id, '15m')).toMatchObject({ status: 'completed', output: '1' })
  expect(calls).toBe(1)
})

test('a sleeping run never wakes early, whatever other runs do', async ({ engine }) => {
  await engine.start([define('nap', ({ step }) => step.sleep('grace', '15m')), define('other', () => 'done')])
  const parked = await engine.run('nap')
  engine.clock.advance('14m')
  await engine.run('other', 'evt_2')
  expect(await engine.store.findRun(parked.id)).toMatchObject({ status: 'waiting' })
})

test('`sleepUntil` waits for its moment, and not at all when that has passed', async ({ engine }) => {
  await engine.serve('until', async ({ step }) => {
    await step.sleepUntil('past', engine.clock.now() - 1)
    await step.sleepUntil('soon', new Date(engine.clock.now() + 1_000))
  })
  const parked = await engine.run('until')
  expect(parked.reason).toContain('"soon"')
  expect(await engine.advance(parked.id, '1s')).toMatchObject({ status: 'completed' })
})
