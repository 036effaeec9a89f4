import { expect, test } from 'vitest'
import { cron, type Duration, defineWorkflow } from '../../../src/author/index.ts'
import { testbed } from '../../../src/testing/index.ts'
import { define } from '../../support/workflows.ts'
import { greet } from '../support/workflows.ts'

const patient = define('patient', { on: 'nap.asked' }, async ({ event, step, now }) => {
  await step.sleep('nap', event.data.length as Duration)
  return step.run('wake', () => new Date(now()).toISOString(), { effect: 'read' })
})

test('the clock stands still until it is advanced, and stops at every timer on its way', async () => {
  await using t = await testbed({ workflows: [patient], now: '2026-03-01T12:00:00Z' })
  const stops: string[] = []
  t.notices.subscribe('step.completed', () => stops.push(new Date(t.now()).toISOString()))
  for (const length of ['40m', '5m', '1d']) await t.send('nap.asked', { length })
  expect(t.runs(patient).map((run) => [run.status, run.dueAt])).toEqual([
    ['waiting', Date.parse('2026-03-01T12:40:00Z')],
    ['waiting', Date.parse('2026-03-01T12:05:00Z')],
    ['waiting', Date.parse('2026-03-02T12:00:00Z')],
  ])
  await t.advance('1h')
  expect(stops).toEqual(['2026-03-01T12:05:00.000Z', '2026-03-01T12:40:00.000Z'])
  expect(t.runs(patient).map((run) => run.output)).toEqual([stops[1], stops[0], null])
  expect(t.now()).toBe(Date.parse('2026-03-01T13:00:00Z'))
})

test('a failing step is retried at the same moments under the same seed', async () => {
  const flaky = define('flaky', { on: 'try', retry: { attempts: 4, min: '10s', max: '1m' } }, ({ step, now }) =>
    step.run('try', ({ attempt }) => {
      if (attempt < 4) throw new Error('not yet')
      return now()
    }),
  )
  const drive = async (seed: number) => {
    await using t = await testbed({ workflows: [flaky], seed })
    const moments: (number | null)[] = []
    t.notices.subscribe('step.failed', ({ retryAt }) => moments.push(retryAt))
    await t.send('try')
    await t.advance('10m')
    expect(t.run(flaky)).toMatchObject({ status: 'completed' })
    expect(t.run(flaky).steps()).toMatchObject([{ attempt: 4 }])
    return moments
  }
  expect(await drive(7)).toEqual(await drive(7))
  expect(await drive(7)).not.toEqual(await drive(8))
})

const nightly = defineWorkflow({
  id: 'nightly',
  on: cron('0 3 * * *', { timezone: 'Europe/Berlin' }),
  run: ({ tick }) => tick.scheduledFor.toISOString(),
})

test('a cron workflow can be ticked once for each moment', async () => {
  await using t = await testbed({ workflows: [nightly, greet] })
  const run = await t.tick('nightly', '2025-12-24T02:00:00Z')
  expect(run).toMatchObject({ status: 'completed', output: '2025-12-24T02:00:00.000Z' })
  await expect(t.tick(nightly, '2025-12-24T02:00:00Z')).rejects.toThrow('already has its run')
  await expect(t.tick(greet)).rejects.toThrow('"greet" does not run on a cron line')
})
