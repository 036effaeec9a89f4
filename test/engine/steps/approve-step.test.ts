import { expect } from 'vitest'
import type { Store } from '../../../src/core/store/store.ts'
import { test } from '../../support/test-engine.ts'
import { define } from '../../support/workflows.ts'

const asks = define('asks', { on: 'file.created' }, ({ step }) => step.approve('go on', { ask: 'Go on?' }))

test('a yes that no words of people prove is none: the run waits for a person', async ({ engine }) => {
  const findQuestion: Store['findQuestion'] = async (...given) => {
    const found = await engine.store.findQuestion(...given)
    return found && { ...found, status: 'approved', decidedAt: found.openedAt }
  }
  await engine.start([asks], { store: { ...engine.store, findQuestion } })
  // It looks again when its time is over.
  const run = await engine.advance((await engine.run('asks')).id, '8d')
  expect(run).toMatchObject({
    status: 'waiting',
    reason: expect.stringContaining('is not valid: it needs the decisions'),
  })
})
