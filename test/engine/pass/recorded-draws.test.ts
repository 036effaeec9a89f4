import { expect } from 'vitest'
import { createTestEngine, test } from '../../support/test-engine.ts'

test('draws inside a step move no counter of the code outside, and a repeated attempt draws the same', async () => {
  const engine = createTestEngine()
  const outside: number[] = []
  const inside: Record<number, number[]> = {}
  await engine.serve('draws', async ({ step, random, uuid, now }) => {
    const before = random()
    await step.run('pick', async ({ attempt }) => {
      inside[attempt] = [random(), random()]
      expect([uuid(), now()]).toHaveLength(2)
      await Promise.resolve()
      random()
      if (attempt === 1) throw new Error('once')
    })
    const after = random()
    outside.push(before, after)
    await step.sleep('nap', '1m')
    return null
  })
  const { id } = await engine.run('draws')
  await engine.advance(id, '5m')
  await engine.advance(id, '1m')
  expect(outside).toHaveLength(4)
  expect(outside.slice(2)).toEqual(outside.slice(0, 2))
  expect(new Set([...Object.values(inside).flat(), ...outside]).size).toBe(6)
})
