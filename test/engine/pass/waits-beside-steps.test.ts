import { expect } from 'vitest'
import { z } from 'zod'
import { defineWorkflow } from '../../../src/author/define-workflow.ts'
import type { StepApi } from '../../../src/author/steps/step-api.ts'
import { callable } from '../../../src/author/trigger.ts'
import { deliverEvent } from '../../support/deliver-event.ts'
import { type TestEngine, test } from '../../support/test-engine.ts'
import { define } from '../../support/workflows.ts'
import { moved, transfer } from '../support/transfer-waits.ts'

/** A run in one pass: `beside` runs next to a step that ends after it. */
async function runBeside(
  engine: TestEngine,
  beside: (step: StepApi) => Promise<unknown>,
  others: Parameters<TestEngine['start']>[0] = [],
) {
  const working = Promise.withResolvers<void>()
  const latch = Promise.withResolvers<void>()
  let passes = 0
  const worker = await engine.start([
    define('busy', { on: 'file.created' }, async ({ step }) => {
      passes += 1
      const long = step.run('long', () => {
        working.resolve()
        return latch.promise
      })
      const answer = await beside(step)
      latch.resolve()
      await long
      return answer
    }),
    ...others,
  ])
  // As the app does: a step that makes a run wakes the workers.
  engine.notices.subscribe('run.queued', () => worker.wake())
  const ended = engine.run('busy')
  await working.promise
  return { ended, worker, passes: () => passes }
}

/** Moves the clock until the run has ended: a timer may be set a turn later. */
async function advanceUntilEnd(engine: TestEngine, ended: Promise<unknown>) {
  let isOver = false
  void ended.finally(() => {
    isOver = true
  })
  while (!isOver) {
    engine.clock.advance('1m')
    await new Promise(setImmediate)
  }
}

test('a sleep that ends beside a step at work goes on in the same pass', async ({ engine }) => {
  const { ended, passes } = await runBeside(engine, (step) => step.sleep('reminder', '1m').then(() => 'reminded'))
  await advanceUntilEnd(engine, ended)
  expect(await ended).toMatchObject({ status: 'completed', output: '"reminded"' })
  expect(passes()).toBe(1)
})

test('a step that failed is tried again beside a step at work, in the same pass', async ({ engine }) => {
  const { ended, passes } = await runBeside(engine, (step) =>
    step.run('flaky', ({ attempt }) => {
      if (attempt < 3) throw new Error('not yet')
      return attempt
    }),
  )
  await advanceUntilEnd(engine, ended)
  expect(await ended).toMatchObject({ status: 'completed', output: '3' })
  expect(passes()).toBe(1)
})

test('a child that ends beside a step at work answers in the same pass', async ({ engine }) => {
  const child = defineWorkflow({ id: 'child', on: callable(z.object({})), run: () => 'from the child' })
  const { ended, passes } = await runBeside(engine, (step) => step.invoke('ask', child, {}), [child])
  expect(await ended).toMatchObject({ status: 'completed', output: '"from the child"' })
  expect(passes()).toBe(1)
})

test('an event that arrives beside a step at work resolves its wait in the same pass', async ({ engine }) => {
  const { ended, worker, passes } = await runBeside(engine, (step) =>
    step.waitFor('event', { on: moved, where: { transfer: 't1' }, timeout: '1h' }).then((event) => event?.id),
  )
  await deliverEvent(engine, [worker], { id: 'evt_fits', type: 'transfer.completed', data: transfer('t1') })
  expect(await ended).toMatchObject({ status: 'completed', output: '"evt_fits"' })
  expect(passes()).toBe(1)
})
