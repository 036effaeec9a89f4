import { expect } from 'vitest'
import { test } from '../../support/test-engine.ts'

test("an author's catch cannot swallow a park", async ({ engine }) => {
  await engine.serve('greedy', async ({ step }) => {
    try {
      await step.sleep('nap', '1m')
      return 'slept'
    } catch {
      return 'swallowed'
    }
  })
  const parked = await engine.run('greedy')
  expect(parked.status).toBe('waiting')
  expect(await engine.advance(parked.id, '1m')).toMatchObject({ output: '"slept"' })
})
