import { expect } from 'vitest'
import type { StepApi } from '../../../src/author/steps/step-api.ts'
import { test } from '../../support/test-engine.ts'
import { define } from '../../support/workflows.ts'

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

test('a crash between two outcomes repeats the recorded one first', async ({ engine }) => {
  const release = Promise.withResolvers<string>()
  const seen: string[] = []
  const workflow = define('crashed', async ({ step }) => {
    const a = step.run('a', () => release.promise)
    const b = step.run('b', () => 'b')
    seen.push(await Promise.race([a, b]))
    const both = await Promise.all([a, b])
    await step.sleep('nap', '1m')
    return both
  })
  const first = await engine.start([workflow], { drainMs: 0 })
  const began = engine.notices.once('step.completed')
  void engine.run('crashed')
  await began
  await first.stop()
  release.resolve('a')
  const [row] = await engine.store.listRuns({ limit: 1 })
  await engine.start([workflow])
  const id = row?.id ?? ''
  await expect.poll(async () => (await engine.store.findRun(id))?.status).toBe('waiting')
  expect(await engine.advance(id, '1m')).toMatchObject({ status: 'completed', output: '["a","b"]' })
  expect(new Set(seen)).toEqual(new Set(['b']))
})
