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

test('the function of a map is replaced for each of its items', async () => {
  const sizes = defineWorkflow({
    id: 'sizes',
    on: 'go',
    run: ({ step }) =>
      step.map(
        'size',
        ['a', 'b'],
        (name) => name,
        () => 0,
      ),
  })
  const attempts: string[] = []
  await using t = await testbed({
    workflows: [sizes],
    steps: {
      sizes: {
        size: ({ attempt, idempotencyKey }) => {
          attempts.push(`${attempt} ${idempotencyKey}`)
          return 7
        },
      },
    },
  })
  await t.send('go')
  expect(t.run(sizes)).toMatchObject({ status: 'completed', output: [7, 7] })
  expect(new Set(attempts).size).toBe(2)
})

const child = defineWorkflow({ id: 'child', on: 'never', run: () => 'real' })
const parent = defineWorkflow({
  id: 'parent',
  on: 'go',
  async run({ step }) {
    const event = await step.waitFor('approval', { on: 'approved', timeout: '1d' })
    const output = await step.invoke('child', child, { data: {} })
    return { by: event?.data.by ?? null, output }
  },
})

test('waits and invocations can be replaced by their results', async () => {
  const approved = { id: 'evt_a', type: 'approved', created: '2026-01-01T00:00:00Z', data: { by: 'Ada' } }
  await using t = await testbed({
    workflows: [parent, child],
    steps: { parent: { approval: () => approved, child: () => 'pretended' } },
  })
  await t.send('go')
  expect(t.run(parent).output).toEqual({ by: 'Ada', output: 'pretended' })
  expect(t.runs(child)).toEqual([])
})

test('a wait that is replaced by null has timed out', async () => {
  await using t = await testbed({ workflows: [parent, child], steps: { parent: { approval: () => null } } })
  await t.send('go')
  expect(t.run(parent).output).toEqual({ by: null, output: 'real' })
})

test('a replacement for a step that the workflow does not have is an error once a run has ended', async () => {
  await using t = await testbed({ workflows: [greet], steps: { greet: { gret: () => 'Moin' } } })
  await expect(t.send('greeting.asked', { name: 'Ada' })).rejects.toThrow(
    '"steps" replaces "gret" of "greet", which has no such step. Its runs reached: "greet".',
  )
})
