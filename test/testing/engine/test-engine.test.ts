import { expect, test } from 'vitest'
import { defineWorkflow } from '../../../src/author/index.ts'
import { testbed } from '../../../src/testing/index.ts'
import { define } from '../../support/workflows.ts'

test('a run that hangs is reported with its last step, and its code hears of the end by its signal', async () => {
  const { promise, resolve } = Promise.withResolvers<string>()
  const hanging = define('hanging', { on: 'go' }, async ({ step }) => {
    await step.run('fine', () => 1)
    await step.run('stuck', ({ signal }) => new Promise(() => signal.addEventListener('abort', () => resolve('heard'))))
  })
  {
    await using t = await testbed({ workflows: [hanging], patienceMs: 200 })
    await expect(t.send('go')).rejects.toThrow(/does not come to rest: hanging \(run_\w+\), behind its step "fine"/)
  }
  expect(await Promise.race([promise, 'not yet'])).toBe('heard')
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
  const circling = define('circling', { on: 'go', retry: { attempts: 100_000, min: 0, max: 0 } }, ({ step }) =>
    step.run('again', () => Promise.reject(new Error('again'))),
  )
  await using t = await testbed({ workflows: [circling] })
  await expect(t.send('go')).rejects.toThrow(/circling .* 1000 times at the same moment/)
})
