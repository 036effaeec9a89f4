import { setImmediate } from 'node:timers/promises'
import { expect, onTestFinished, test } from 'vitest'
import { defineWorkflow, type RunContext } from '../../../src/author/index.ts'
import { testbed } from '../../../src/testing/index.ts'

test('a step that nothing awaits is a warning, with its place, though the run completes', async () => {
  const warnings = await warningsOf(({ step }) => {
    void step.run('tell', () => Promise.reject(new Error('nobody hears of it')))
  })
  expect(warnings).toEqual([
    expect.stringMatching(
      /^The code of "w" returned before its step "tell" at .*engine-life\.test\.ts:\d+.* had ended/,
    ),
  ])
})

test('a step name that two branches share is a warning', async () => {
  const warnings = await warningsOf(({ step }) => Promise.all([step.run('copy', () => 1), step.run('copy', () => 2)]))
  expect(warnings).toEqual([expect.stringMatching(/^Two branches of "w" use the step name "copy"/)])
})

async function warningsOf(run: (context: RunContext<'go'>) => unknown): Promise<string[]> {
  const warnings: string[] = []
  const listen = (warning: Error) => {
    if ('code' in warning && warning.code === 'UPSHOT_STEP') warnings.push(warning.message)
  }
  process.on('warning', listen)
  onTestFinished(() => void process.off('warning', listen))
  const workflow = defineWorkflow({ id: 'w', on: 'go', retry: { attempts: 1 }, run })
  await using t = await testbed({ workflows: [workflow] })
  await t.send('go')
  expect(t.run(workflow).status).toBe('completed')
  await setImmediate()
  return warnings
}
