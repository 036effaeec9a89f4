import { expect, onTestFinished, test } from 'vitest'
import { z } from 'zod'
import { cron } from '../../src/author/cron.ts'
import { defineWorkflow } from '../../src/author/define-workflow.ts'
import type { ScheduleRequest } from '../../src/author/steps/step-options.ts'
import { type CallableTrigger, callable } from '../../src/author/trigger.ts'
import type { AnyWorkflow } from '../../src/author/workflow.ts'
import { type Testbed, testbed } from '../../src/testing/testbed.ts'
import { define } from '../support/workflows.ts'

const NOW = Date.parse('2026-05-01T12:00Z')
const HOUR = 3_600_000

const mirror = defineWorkflow({
  id: 'mirror',
  on: callable(z.object({ folder: z.string() })),
  run: ({ input, tick, account }) => ({ folder: input.folder, due: tick?.scheduledFor.toISOString() ?? null, account }),
})

async function open(...workflows: AnyWorkflow[]): Promise<Testbed> {
  const t = await testbed({ workflows: [mirror, ...workflows], now: NOW })
  onTestFinished(() => t[Symbol.asyncDispose]())
  return t
}

/** A workflow that makes the schedule `acme` from its events, by their data. */
function planner(more: Partial<ScheduleRequest<CallableTrigger>> = {}) {
  return defineWorkflow({
    id: 'planner',
    on: ['customer.added', 'customer.gone'],
    async run({ event, step }) {
      if (event.type === 'customer.gone') return step.unschedule('acme')
      const { folder, line } = event.data as { folder: string; line: string }
      await step.schedule('acme', { workflow: mirror, cron: line, input: { folder }, ...more })
    },
  })
}

const outputs = (t: Testbed) => t.runs(mirror).map(({ output }) => output)

test('a schedule of code starts runs with its input by the clock, is changed under its name, and ends', async () => {
  const t = await open(planner())
  await t.send('customer.added', { folder: '/a', line: '0 * * * *' })
  await t.advance('2h')
  await t.send('customer.added', { folder: '/b', line: '30 * * * *' })
  await t.advance('1h')
  await t.send('customer.gone')
  await t.advance('5h')
  expect(outputs(t)).toEqual([
    { folder: '/a', due: '2026-05-01T13:00:00.000Z', account: 'default' },
    { folder: '/a', due: '2026-05-01T14:00:00.000Z', account: 'default' },
    { folder: '/b', due: '2026-05-01T14:30:00.000Z', account: 'default' },
  ])
  expect((await t.start(mirror, { folder: '/c' })).output).toEqual({ folder: '/c', due: null, account: 'default' })
})

test('a test sees cron lines, schedules of code and later events, until they are done', async () => {
  const line = defineWorkflow({ id: 'nightly', on: cron('0 3 * * *'), run: () => null })
  const both = define('both', { on: 'order.placed' }, async ({ step }) => {
    await step.schedule('acme', { workflow: mirror, cron: '0 * * * *', input: { folder: '/a' } })
    await step.schedule('once', { workflow: mirror, at: NOW + HOUR, input: { folder: '/b' } })
    await step.send('remind', 'order.late', { n: 7 }, { at: NOW + HOUR })
  })
  const t = await open(line, both)
  await t.send('order.placed')
  const hourly = { workflow: 'mirror', sends: null, cron: '0 * * * *', input: { folder: '/a' } }
  const nightly = { name: 'nightly', workflow: 'nightly', sends: null, cron: '0 3 * * *', input: null }
  expect(await t.schedules()).toEqual([
    { name: 'acme', ...hourly, next: new Date(NOW + HOUR) },
    {
      name: expect.any(String),
      workflow: null,
      sends: 'order.late',
      cron: null,
      next: new Date(NOW + HOUR),
      input: expect.objectContaining({ type: 'order.late', data: { n: 7 } }),
    },
    { name: 'once', workflow: 'mirror', sends: null, cron: null, input: { folder: '/b' }, next: new Date(NOW + HOUR) },
    { ...nightly, next: new Date('2026-05-02T03:00Z') },
  ])
  await t.advance('1h')
  expect((await t.schedules()).map(({ name }) => name)).toEqual(['acme', 'nightly'])
})

test('an event is sent later, once', async () => {
  const later = define('later', { on: 'order.placed' }, ({ step }) =>
    step.send('remind', 'order.late', { n: 7 }, { at: NOW + HOUR }),
  )
  const late = defineWorkflow({ id: 'late', on: 'order.late', run: ({ event }) => [event.data.n, event.created] })
  const t = await open(later, late)
  await t.send('order.placed')
  await t.advance('59m')
  expect(t.runs(late)).toEqual([])
  await t.restart()
  await t.advance('3h')
  expect(t.runs(late).map(({ output }) => output)).toEqual([[7, '2026-05-01T13:00:00.000Z']])
})

test.each<[string, object, string]>([
  ['a bad line', { cron: '0 25 * * *' }, 'hour "25"'],
  ['neither a line nor a moment', { cron: undefined }, 'either `cron` or `at`'],
  ['an input that does not fit', { input: { folder: 7 } }, 'input.folder'],
  ['an unknown zone', { timezone: 'Mars' }, 'Mars'],
])('%s fails the step with its reason', async (_, more, reason) => {
  const t = await open(planner(more))
  await t.send('customer.added', { folder: '/a', line: '0 * * * *' })
  expect(JSON.stringify(t.run('planner').error ?? t.run('planner').reason)).toContain(
    JSON.stringify(reason).slice(1, -1),
  )
})

test('runs that schedule one another at once end after a hundred links, and those that wait go on', async () => {
  const loop = (id: string, pauseMs: number) => {
    const again: AnyWorkflow = defineWorkflow({
      id,
      on: callable(z.object({ n: z.number() })),
      retry: { attempts: 1 },
      async run({ input, step }) {
        if (input.n > 150) return 'enough'
        const next = again as never
        await step.schedule(`${id}-${input.n}`, {
          workflow: next,
          at: NOW + input.n * pauseMs,
          input: { n: input.n + 1 },
        })
        return input.n
      },
    })
    return again
  }
  const [hot, slow] = [loop('hot', 0), loop('slow', HOUR)]
  const t = await open(hot, slow)
  await t.start(hot, { n: 1 })
  expect(t.run('hot')).toMatchObject({ status: 'failed', error: { code: 'invoke_too_deep' } })
  await t.start(slow, { n: 1 })
  await t.advance('160h')
  expect(t.run('slow')).toMatchObject({ output: 'enough' })
})

test('the name of a line in code is not taken', async () => {
  const line = defineWorkflow({ id: 'acme', on: cron('0 3 * * *'), run: () => null })
  const t = await open(line, planner())
  await t.send('customer.added', { folder: '/a', line: '0 * * * *' })
  expect(JSON.stringify(t.run('planner').error)).toContain('not of code')
})
