import { expect } from 'vitest'
import { test } from '../../support/test-engine.ts'
import { define } from '../../support/workflows.ts'

const asks = define('asks', { on: 'file.created' }, ({ step }) => step.approve('go on', { ask: 'Go on?' }))

test('a yes that no words of people prove is none: the run waits for a person', async ({ engine }) => {
  const store = new Proxy(engine.store, {
    get: (target, name) => {
      if (name !== 'findQuestion') return Reflect.get(target, name)
      return async (...given: Parameters<typeof target.findQuestion>) => {
        const found = await target.findQuestion(...given)
        return found && { ...found, status: 'approved', decidedAt: found.openedAt }
      }
    },
  })
  await engine.start([asks], { store })
  // It looks again when its time is over.
  const run = await engine.advance((await engine.run('asks')).id, '8d')
  expect(run).toMatchObject({
    status: 'waiting',
    reason: expect.stringContaining('is not valid: it needs the decisions'),
  })
})
