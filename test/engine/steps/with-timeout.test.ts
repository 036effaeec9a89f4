import { expect, test } from 'vitest'
import { defineWorkflow } from '../../../src/author/define-workflow.ts'
import { createTestEngine } from '../../support/test-engine.ts'

test('a signal that is first read after the timeout is aborted already', async () => {
  const engine = createTestEngine()
  const begun = Promise.withResolvers<void>()
  const looked = Promise.withResolvers<boolean>()
  const timedOut = engine.notices.once('step.failed')
  const workflow = defineWorkflow({
    id: 'follow-up',
    on: '*',
    retry: { attempts: 1 },
    run: ({ step }) =>
      step.run(
        'late',
        async (context) => {
          begun.resolve()
          await timedOut
          looked.resolve(context.signal.aborted)
        },
        { timeout: '1m' },
      ),
  })
  await engine.start([workflow])
  const run = engine.run('follow-up')
  await begun.promise
  engine.clock.advance('1m')
  expect(await looked.promise).toBe(true)
  expect(await run).toMatchObject({ status: 'failed' })
})
