import { expect } from 'vitest'
import { z } from 'zod'
import { defineEvent } from '../../../src/author/define-event.ts'
import type { UpshotError } from '../../../src/core/errors.ts'
import { awaitStatus } from '../../support/await-runs.ts'
import { deliverEvent } from '../../support/deliver-event.ts'
import { createTestEngine, test } from '../../support/test-engine.ts'

test('a replay repeats no line of a branch that had ended while another one waits', async ({ engine }) => {
  const approved = defineEvent('order.approved', { data: z.looseObject({}) })
  const worker = await engine.serve('branches', { on: 'file.created' }, async ({ step, log }) => {
    const quick = async () => {
      await step.run('a', () => 1)
      log.info('a is done')
    }
    const slow = async () => {
      await step.waitFor('approval', { on: approved, timeout: '1d' })
      log.info('approved')
    }
    await Promise.all([quick(), slow()])
    log.info('both')
  })
  const { id } = await engine.run('branches')
  await deliverEvent(engine, worker, { id: 'evt_ok', type: 'order.approved', data: {} })
  await awaitStatus(engine, id, 'completed')
  const lines = engine.heard.flatMap((notice) => (notice.kind === 'run.log' ? [notice.message] : []))
  expect(lines).toEqual(['a is done', 'approved', 'both'])
})

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
