import { expect } from 'vitest'
import { NOW } from '../../support/fixtures.ts'
import { test } from '../../support/test-engine.ts'

const NO_RETRY = { attempts: 1 }

test('a run whose event body is pruned is parked and says so', async ({ engine }) => {
  await engine.serve('flaky', { retry: NO_RETRY }, () => {
    throw new Error('once')
  })
  const failed = await engine.run('flaky')
  await engine.store.prune({ kind: 'payloads', before: NOW + 1, limit: 10, after: null })
  await engine.store.retryRun(failed.id, engine.clock.now())
  expect(await engine.advance(failed.id, '1s')).toMatchObject({
    status: 'waiting',
    dueAt: null,
    reason: 'the body of its event evt_1 is pruned',
  })
})
