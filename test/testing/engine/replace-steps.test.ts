import { expect, test } from 'vitest'
import { defineWorkflow } from '../../../src/author/index.ts'
import { testbed } from '../../../src/testing/index.ts'
import { greet } from '../support/workflows.ts'

test('a replaced step keeps its retries and its place in the journal', async () => {
  await using t = await testbed({
    workflows: [greet],
    steps: { greet: { greet: ({ attempt }) => (attempt === 1 ? Promise.reject(new Error('busy')) : 'Moin') } },
  })
  await t.send('greeting.asked', { name: 'Ada' })
  expect(t.run(greet)).toMatchObject({ status: 'waiting', reason: 'next attempt of step "greet": busy' })
  await t.advance('1m')
  expect(t.run(greet)).toMatchObject({ status: 'completed', output: 'Moin' })
})

test('a failed run is followed by onFailure, whose steps can be replaced, too', async () => {
  const failing = defineWorkflow({
    id: 'failing',
    on: 'go',
    retry: { attempts: 1 },
    run: ({ step }) => step.run('try', () => Promise.reject(new Error('no'))),
    onFailure: ({ step }) => step.run('alert', () => 'alerted'),
  })
  await using t = await testbed({ workflows: [failing], steps: { failing: { alert: () => 'pretended' } } })
  await t.send('go')
  expect(t.run(failing)).toMatchObject({ handler: 'run', status: 'failed' })
  expect(t.runs(failing)[1]).toMatchObject({ handler: 'onFailure', status: 'completed', output: 'pretended' })
})
