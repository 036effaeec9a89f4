import { expect, test } from 'vitest'
import { cron, defineEvent, defineWorkflow, RetryAt, TerminalError, z } from '../../src/index.ts'
import { testbed } from '../../src/testing/index.ts'

const arrived = defineEvent('file.arrived', { data: z.object({ path: z.string(), size: z.coerce.number() }) })

const greet = defineWorkflow({
  id: 'greet',
  on: 'greeting.asked',
  async run({ event, step, log }) {
    log.info('asked', { by: event.data.name })
    return step.run('greet', () => `Hello ${event.data.name}`)
  },
})

test('follows an event up before send returns', async () => {
  await using t = await testbed({ workflows: [greet] })
  const { event, runs } = await t.send('greeting.asked', { name: 'Ada' })
  expect(event).toMatchObject({ id: 'evt_test1', created: '2026-01-01T00:00:00.000Z' })
  expect(runs).toMatchObject([{ status: 'completed', output: 'Hello Ada' }])
  expect(t.run(greet).steps()).toEqual([
    { key: 'greet', effect: 'write', status: 'completed', output: 'Hello Ada', error: null, attempt: 1, target: null },
  ])
  expect(t.run('greet').logs()).toEqual([{ level: 'info', message: 'asked', facts: { by: 'Ada' } }])
})

test('prints times', async () => {
  for (let i = 0; i < 5; i++) {
    const a = performance.now()
    await using t = await testbed({ workflows: [greet] })
    const b = performance.now()
    await t.send('greeting.asked', { name: 'Ada' })
    const c = performance.now()
    await t.storage('storage_a').put('/x', 'y')
    const d = performance.now()
    process.stdout.write(`open ${(b - a).toFixed(1)} send ${(c - b).toFixed(1)} storage ${(d - c).toFixed(1)}\n`)
  }
})
void [cron, RetryAt, TerminalError, arrived]
