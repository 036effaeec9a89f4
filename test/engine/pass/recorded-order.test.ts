import { expect } from 'vitest'
import type { StepApi } from '../../../src/author/steps/step-api.ts'
import { test } from '../../support/test-engine.ts'

test('same-named steps in branches keep their results and idempotency keys', async ({ engine }) => {
  const seen: string[][] = []
  const keys: Record<string, string[]> = {}
  const branch = async (step: StepApi, name: string, first: Promise<unknown>) => {
    await step.run(`begin ${name}`, async () => void (await first))
    return step.run('act', ({ attempt, idempotencyKey }) => {
      keys[name] = [...(keys[name] ?? []), idempotencyKey]
      if (attempt === 1) throw new Error('once')
      return name
    })
  }
  const turn = Promise.withResolvers<void>()
  await engine.serve('branches', async ({ step }) => {
    const b = branch(step, 'b', Promise.resolve())
    void b.catch(() => {}).finally(() => turn.resolve())
    setImmediate(() => turn.resolve())
    const answers = await Promise.all([branch(step, 'a', turn.promise), b])
    seen.push(answers)
    await step.sleep('nap', '1m')
    return answers
  })
  const { id } = await engine.run('branches')
  await engine.advance(id, '5m')
  expect(await engine.advance(id, '1m')).toMatchObject({ status: 'completed', output: '["a","b"]' })
  expect(seen).toEqual([
    ['a', 'b'],
    ['a', 'b'],
  ])
  for (const each of Object.values(keys)) expect(new Set(each).size).toBe(1)
  expect(keys.b).toEqual([`${id}/act`, `${id}/act`])
  expect(engine.heard.filter(({ kind }) => kind === 'step.shared')).toMatchObject([{ run: id, step: 'act' }])
})
