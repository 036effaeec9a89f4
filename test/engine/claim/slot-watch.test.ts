import { setImmediate as turn } from 'node:timers/promises'
import { expect, test } from 'vitest'
import { queueRun } from '../../support/fixtures.ts'
import { createTestEngine } from '../../support/test-engine.ts'
import { define } from '../../support/workflows.ts'

test('steps that hold the slots for a minute while none is free are told once, until they end', async () => {
  const engine = createTestEngine()
  const answer = { wait: Promise.withResolvers<void>() }
  const slow = define('slow', ({ step }) =>
    step.run(['ask', 1], () => answer.wait.promise, { target: 'storage_b:/in', effect: 'read', timeout: '1h' }),
  )
  const worker = await engine.start([slow], { slots: 3, drainMs: 0 })
  const wait = async (seconds: number) => {
    for (let second = 0; second < seconds; second++) {
      engine.clock.advance('1s')
      // Its answers come after those of the worker's beat.
      for (let asked = 0; asked < 5; asked++) await engine.store.nextDueAt().then(() => turn())
    }
  }
  const told = () => engine.heard.filter(({ kind }) => kind === 'slots.held')
  for (const event of ['evt_1', 'evt_2']) await queueRun(engine.store, event, 'slow')
  worker.wake()
  await wait(120)
  expect(told()).toEqual([])
  for (const event of ['evt_3', 'evt_4']) await queueRun(engine.store, event, 'slow')
  worker.wake()
  await wait(120)
  const held = { kind: 'slots.held', slots: 3, workflow: 'slow', step: 'ask', target: 'storage_b' }
  expect(told()).toEqual([{ ...held, held: 2 }])
  answer.wait.resolve()
  answer.wait = Promise.withResolvers()
  await wait(10)
  for (const event of ['evt_5', 'evt_6', 'evt_7']) await queueRun(engine.store, event, 'slow')
  worker.wake()
  await wait(120)
  expect(told()).toEqual([
    { ...held, held: 2 },
    { ...held, held: 3 },
  ])
})
