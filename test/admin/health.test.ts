import { expect, test } from 'vitest'
import { createHealth } from '../../src/admin/ports/health.ts'

test('a check that never ends has failed, and the others are told', async () => {
  const health = createHealth({ stuck: () => new Promise(() => {}), fine: async () => {} }, { withinMs: 10 })
  expect(await health.check()).toEqual({
    ready: false,
    checks: { stuck: 'no answer within 0.01 s', fine: 'ok' },
    warnings: [],
  })
})
