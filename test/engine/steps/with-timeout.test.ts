import { expect } from 'vitest'
import { test } from '../../support/test-engine.ts'
import { define } from '../../support/workflows.ts'

test('a signal that is first read after the timeout is aborted already', async ({ engine }) => {
  const begun = Promise.withResolvers<void>()
  const looked = Promise.withResolvers<boolean>()
  const timedOut = engine.notices.once('step.failed')
  const workflow = define('follow-up', { retry: { attempts: 1 } }, ({ step }) =>
    step.run(
      'late',
      async (context) => {
        begun.resolve()
        await timedOut
        looked.resolve(context.signal.aborted)
      },
      { timeout: '1m' },
    ),
  )
  await engine.start([workflow])
  const run = engine.run('follow-up')
  await begun.promise
  engine.clock.advance('1m')
  expect(await looked.promise).toBe(true)
  expect(await run).toMatchObject({ status: 'failed' })
})
