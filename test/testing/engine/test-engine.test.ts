import { expect, test } from 'vitest'
import { defineWorkflow } from '../../../src/author/index.ts'
import { testbed } from '../../../src/testing/index.ts'

test('a restart of the engine loses its memory, but no finished step', async () => {
  const done: string[] = []
  const twoSteps = defineWorkflow({
    id: 'two-steps',
    on: 'go',
    async run({ step }) {
      await step.run('first', () => void done.push('first'))
      await step.sleep('pause', '1h')
      await step.run('second', () => void done.push('second'))
    },
  })
  await using t = await testbed({ workflows: [twoSteps] })
  await t.send('go')
  await t.restart()
  expect(done).toEqual(['first'])
  await t.advance('1h')
  expect(done).toEqual(['first', 'second'])
  expect(t.effects().map(({ key }) => key)).toEqual(['first', 'second'])
})

test('a run that hangs is reported with its last step', async () => {
  const hanging = defineWorkflow({
    id: 'hanging',
    on: 'go',
    async run({ step }) {
      await step.run('fine', () => 1)
      await step.run('stuck', () => new Promise(() => {}))
    },
  })
  await using t = await testbed({ workflows: [hanging], patienceMs: 200 })
  await expect(t.send('go')).rejects.toThrow(/does not come to rest: hanging \(run_\w+\), behind its step "fine"/)
})

test('a fault that the engine could only publish is thrown', async () => {
  const sound = defineWorkflow({ id: 'broken', on: 'go', run: () => null })
  const broken = Object.defineProperty({ ...sound }, 'retry', {
    enumerable: true,
    get() {
      throw new Error('no such thing')
    },
  })
  await using t = await testbed({ workflows: [broken] })
  await expect(t.send('go')).rejects.toThrow(/The engine reported a fault in run run_\w+: .*no such thing/)
})

test('a run that retries without end at one moment is reported', async () => {
  const circling = defineWorkflow({
    id: 'circling',
    on: 'go',
    retry: { attempts: 100_000, min: 0, max: 0 },
    run: ({ step }) => step.run('again', () => Promise.reject(new Error('again'))),
  })
  await using t = await testbed({ workflows: [circling] })
  await expect(t.send('go')).rejects.toThrow(/circling .* 1000 times at the same moment/)
})
