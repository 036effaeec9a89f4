import { expect, test } from 'vitest'
import { defineWorkflow } from '../../../src/author/define-workflow.ts'
import { NOW } from '../../support/fixtures.ts'
import { createTestEngine } from '../../support/test-engine.ts'

const NO_RETRY = { attempts: 1 }

test('a run whose event body is pruned is parked and says so', async () => {
  const engine = createTestEngine()
  await engine.start([
    defineWorkflow({
      id: 'flaky',
      on: '*',
      retry: NO_RETRY,
      run: () => {
        throw new Error('once')
      },
    }),
  ])
  const failed = await engine.run('flaky')
  await engine.store.prune({ kind: 'payloads', before: NOW + 1, limit: 10, after: null })
  await engine.store.retryRun(failed.id, engine.clock.now())
  expect(await engine.advance(failed.id, '1s')).toMatchObject({
    status: 'waiting',
    dueAt: null,
    reason: 'the body of its event evt_1 is pruned',
  })
})
