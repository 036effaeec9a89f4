import { expect } from 'vitest'
import type { StepApi } from '../../../src/author/steps/step-api.ts'
import type { AnyWorkflow } from '../../../src/author/workflow.ts'
import { createTestEngine, type TestEngine, test } from '../../support/test-engine.ts'
import { changeCode, define } from '../../support/workflows.ts'

const flow = (run: (step: StepApi) => Promise<unknown>) => define('flow', ({ step }) => run(step))

async function replayWith(engine: TestEngine, before: AnyWorkflow, after: AnyWorkflow) {
  const worker = await engine.start([before])
  const { id } = await engine.run('flow')
  await changeCode(engine, worker, [after])
  return engine.advance(id, '1m')
}

test.each(['renamed', 'skipped'] as const)(
  'a finished step that is %s is noticed before its successor acts',
  async (how) => {
    for (const isSameCode of [true, false]) {
      const engine = createTestEngine()
      const acted: string[] = []
      let isChanged = false
      const code = (isNew: () => boolean) => async (step: StepApi) => {
        if (!isNew()) await step.run('pay', () => void acted.push('pay'))
        else if (how === 'renamed') await step.run('pay now', () => void acted.push('pay now'))
        if (isNew()) await step.run('ship', () => void acted.push('ship'))
        await step.sleep('nap', '1m')
        if (!isNew()) await step.run('ship', () => void acted.push('ship'))
      }
      const same = flow(code(() => isChanged))
      const worker = await engine.start([isSameCode ? same : flow(code(() => false))])
      const { id } = await engine.run('flow')
      isChanged = true
      if (!isSameCode) await changeCode(engine, worker, [flow((step) => code(() => true)(step))])
      const run = await engine.advance(id, '1m')
      const came = how === 'renamed' ? 'pay now' : 'ship'
      expect(run).toMatchObject({ status: 'waiting', dueAt: null })
      expect(run.reason).toContain(`step "pay" (run) was expected, and step "${came}" (run) came at test`)
      expect(acted).toEqual(['pay'])
    }
  },
)

test('a step that is reached by another branch than before does nothing new until the replay is over', async () => {
  const engine = createTestEngine()
  const acted: string[] = []
  const act = (step: StepApi, name: string) => step.run(name, () => void acted.push(name))
  const run = await replayWith(
    engine,
    flow(async (step) => {
      await act(step, 'a')
      await step.sleep('nap', '1m')
    }),
    flow(async (step) => {
      await Promise.all([act(step, 'new'), act(step, 'a')])
      await step.sleep('nap', '1m')
    }),
  )
  expect(run.status).toBe('completed')
  expect(acted).toEqual(['a', 'new'])
})

test('another effect under the same name is a divergence under unchanged code', async ({ engine }) => {
  let effect: 'read' | 'write' = 'read'
  await engine.start([
    flow(async (step) => {
      await step.run('look', () => 1, { effect })
      await step.sleep('nap', '1m')
    }),
  ])
  const { id } = await engine.run('flow')
  effect = 'write'
  const run = await engine.advance(id, '1m')
  expect(run.reason).toMatch(
    /^diverged: step "look" had the effect `read` and has `write` now, at test\/.*divergence\.test\.ts:\d+:\d+$/,
  )
})

test('finished steps in another order are told, with the place of the one that came too early', async ({ engine }) => {
  let names = ['a', 'b']
  await engine.start([
    flow(async (step) => {
      for (const name of names) await step.run(name, () => name)
      await step.sleep('nap', '1m')
    }),
  ])
  const { id } = await engine.run('flow')
  names = ['b', 'a']
  expect((await engine.advance(id, '1m')).reason).toMatch(
    /^diverged: step "a" \(run\) was expected, and step "b" \(run\) came at test\/.*divergence\.test\.ts:\d+:\d+$/,
  )
})

test('code that returns before it reaches a recorded outcome has diverged', async ({ engine }) => {
  let isShort = false
  await engine.start([
    flow(async (step) => {
      if (isShort) return 'short'
      await step.run('a', () => 1)
      return step.sleep('nap', '1m')
    }),
  ])
  const { id } = await engine.run('flow')
  isShort = true
  const run = await engine.advance(id, '1m')
  expect(run).toMatchObject({ status: 'waiting', reason: 'diverged: step "a" (run) was expected, and no other came' })
})

test('code that awaits something of its own between steps is given time in a replay', async ({ engine }) => {
  await engine.start([
    flow(async (step) => {
      const bytes = await step.run('a', () => 'text')
      await crypto.subtle.digest('SHA-256', Buffer.from(bytes))
      await new Promise((resolve) => setTimeout(resolve, 400))
      const b = await step.run('b', () => 2)
      await step.sleep('nap', '1m')
      return b
    }),
  ])
  const { id } = await engine.run('flow')
  expect(await engine.advance(id, '1m')).toMatchObject({ status: 'completed', output: '2' })
})

test('steps that were at work when a pass ended may be reached in any order', async ({ engine }) => {
  let names = ['x', 'y']
  await engine.start([
    flow(async (step) => {
      await step.run('first', () => 1)
      await Promise.all(names.map((name) => step.sleep(name, '1m')))
      return 'done'
    }),
  ])
  const { id } = await engine.run('flow')
  names = ['y', 'x']
  expect(await engine.advance(id, '1m')).toMatchObject({ status: 'completed' })
})

test.each([
  ['run', (step: StepApi) => step.run('inner', () => 1)],
  ['sleep', (step: StepApi) => step.sleep('inner', '1m')],
  ['send', (step: StepApi) => step.send('inner', 'a.b', {})],
] as const)('a step.%s inside a step is refused at once, and the error names both', async (_verb, inner) => {
  const engine = createTestEngine()
  await engine.start([flow((step) => step.run('outer', async () => void (await inner(step))))])
  const run = await engine.run('flow')
  expect(run).toMatchObject({ status: 'failed', error: { code: 'nested_step' } })
  expect(run.error?.message).toContain('Step "inner" was called inside step "outer"')
  expect((await engine.store.listSteps(run.id)).map(({ key }) => key)).toEqual(['outer'])
})

test('a replay whose next step is as expected runs once, and a person can accept other code by name', async () => {
  const engine = createTestEngine()
  const acted: string[] = []
  const act = (step: StepApi, name: string) => step.run(name, () => void acted.push(name))
  const run = await replayWith(
    engine,
    flow(async (step) => {
      await act(step, 'a')
      await act(step, 'b')
      await step.sleep('nap', '1m')
    }),
    flow(async (step) => {
      await act(step, 'b')
      await step.sleep('nap', '1m')
      await act(step, 'c')
      await step.sleep('other', '1m')
      await act(step, 'd')
    }),
  )
  expect(run.reason).toContain('step "a" (run) was expected')
  expect(await engine.store.resumeRun(run.id, { fromScratch: false })).toBe(true)
  await engine.passOf(run.id)
  expect(await engine.advance(run.id, '1m')).toMatchObject({ status: 'completed' })
  expect(acted).toEqual(['a', 'b', 'c', 'd'])
})
