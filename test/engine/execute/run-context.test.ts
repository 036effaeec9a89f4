import { expect, test } from 'vitest'
import { defineWorkflow } from '../../../src/author/define-workflow.ts'
import { createTestEngine } from '../../support/test-engine.ts'

test('time, random numbers and ids are the same in a replay', async () => {
  const engine = createTestEngine()
  const passes: unknown[] = []
  await engine.start([
    defineWorkflow({
      id: 'memory',
      on: '*',
      run: async ({ step, now, random, uuid }) => {
        const seen = [now(), random(), random(), uuid()]
        passes.push(seen)
        await step.sleep('nap', '1h')
        return now() - Number(seen[0])
      },
    }),
  ])
  const parked = await engine.run('memory')
  expect(await engine.advance(parked.id, '1h')).toMatchObject({ output: '3600000' })
  expect(passes).toHaveLength(2)
  expect(passes[0]).toEqual(passes[1])
  const [, first, second, uuid] = passes[0] as [number, number, number, string]
  expect(first).not.toBe(second)
  expect(uuid).toMatch(/^[0-9a-f]{8}-[0-9a-f]{4}-8[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/)
})

test('a replay logs nothing until it reaches new steps', async () => {
  const engine = createTestEngine()
  await engine.start([
    defineWorkflow({
      id: 'chatty',
      on: '*',
      run: async ({ step, log }) => {
        log.info('before')
        await step.run('a', () => 1)
        log.info('between', { n: 1 })
        await step.sleep('nap', '1m')
        log.info('after')
      },
    }),
  ])
  const parked = await engine.run('chatty')
  await engine.advance(parked.id, '1m')
  const lines = engine.heard.flatMap((notice) => (notice.kind === 'run.log' ? [notice.message] : []))
  expect(lines).toEqual(['before', 'between', 'after'])
})
