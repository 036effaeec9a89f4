import { expect } from 'vitest'
import type { StepApi } from '../../../src/author/steps/step-api.ts'
import { createTestEngine, test } from '../../support/test-engine.ts'
import { define } from '../../support/workflows.ts'

type Combine = (promises: Promise<string>[]) => Promise<unknown>

/** Two steps that end as `winner` says, combined, before a sleep and a step named by the answer. */
async function raceThenAct(combine: Combine, winner: 'a' | 'b') {
  const engine = createTestEngine()
  const acted: unknown[] = []
  const seen: unknown[] = []
  const latch = Promise.withResolvers<string>()
  const call = (step: StepApi, name: 'a' | 'b') =>
    step.run(name, async () => {
      if (name !== winner) return latch.promise
      setImmediate(() => latch.resolve(name === 'a' ? 'b' : 'a'))
      return name
    })
  await engine.serve('race', async ({ step }) => {
    const answer = await combine([call(step, 'a'), call(step, 'b')])
    seen.push(answer)
    await step.sleep('nap', '1m')
    await step.run(`act on ${JSON.stringify(answer).replace(/[[\]]/g, '')}`, () => void acted.push(answer))
    await step.sleep('other nap', '1m')
    return answer
  })
  const { id } = await engine.run('race')
  await engine.advance(id, '1m')
  const run = await engine.advance(id, '1m')
  return { run, acted, seen }
}

const failIfNot = (winner: string) => (promises: Promise<string>[]) =>
  Promise.any(
    promises.map(async (promise) => {
      const answer = await promise
      if (answer === winner) throw new Error('no')
      return answer
    }),
  )
const inOrderOfEnding = async (promises: Promise<string>[]) => {
  const order: string[] = []
  await Promise.allSettled(promises.map((promise) => promise.then((answer) => order.push(answer))))
  return order
}
const combinations: [string, Combine][] = [
  ['race', (promises) => Promise.race(promises)],
  ['any', (promises) => Promise.any(promises)],
  ['any with a failure', failIfNot('a')],
  ['all', (promises) => Promise.all(promises)],
  ['allSettled in the order of ending', inOrderOfEnding],
]

test.each(
  combinations.flatMap(([name, combine]) => (['a', 'b'] as const).map((winner) => ({ name, combine, winner }))),
)('Promise.$name gives the same answer in every pass where $winner ends first', async ({ combine, winner }) => {
  const { run, acted, seen } = await raceThenAct(combine, winner)
  expect(run.status).toBe('completed')
  expect(seen).toHaveLength(3)
  expect(new Set(seen.map((answer) => JSON.stringify(answer))).size).toBe(1)
  expect(acted).toHaveLength(1)
  expect(JSON.parse(run.output ?? '')).toEqual(seen[0])
})

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
