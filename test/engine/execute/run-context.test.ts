import { expect } from 'vitest'
import type { UpshotError } from '../../../src/core/errors.ts'
import { createTestEngine, test } from '../../support/test-engine.ts'

test.each(['returned', 'thrown'])(
  'a step called after the code has %s throws run_ended and runs nothing',
  async (how) => {
    const engine = createTestEngine()
    const late = Promise.withResolvers<void>()
    const seen: unknown[] = []
    let steps = 0
    await engine.serve('late', { retry: { attempts: 1 } }, ({ step, run }) => {
      const calls: (() => Promise<unknown>)[] = [
        () => step.run('one', () => (steps += 1)),
        () => step.map('many', [1], String, () => (steps += 1)),
        () => step.sleep('nap', '1m'),
        () => step.send('tell', 'order.shipped', {}),
      ]
      for (const call of calls)
        seen.push(late.promise.then(call).catch((error: UpshotError) => [error.code, error.message]))
      if (how === 'thrown') throw new Error(`no luck in ${run.id}`)
    })
    const { id } = await engine.run('late')
    late.resolve()
    expect(await Promise.all(seen)).toEqual(
      ['one', 'many[1]', 'nap', 'tell'].map((name) => ['run_ended', expect.stringContaining(`Step "${name}"`)]),
    )
    expect(steps).toBe(0)
    expect(await engine.store.listSteps(id)).toEqual([])
  },
)
