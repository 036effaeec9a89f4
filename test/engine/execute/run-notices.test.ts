import { expect } from 'vitest'
import { RetryAfter } from '../../../src/core/runs/retry.ts'
import { awaitStatus } from '../../support/await-runs.ts'
import { test } from '../../support/test-engine.ts'
import { define } from '../../support/workflows.ts'

const ROOT = { kind: 'event', account: 'default', event: 'evt_1' }

test('a run is said to have started once, with its origin and how long it waited', async ({ engine }) => {
  const nap = define('nap', async ({ step }) => {
    await step.sleep('a while', '1m')
  })
  await engine.start([nap])
  const run = await engine.run('nap')
  await engine.advance(run.id, '1m')
  expect(engine.heard.filter(({ kind }) => kind === 'run.started')).toMatchObject([
    { run: run.id, workflow: 'nap', root: ROOT, origin: 'event', waitedMs: expect.any(Number) },
  ])
})

test('every notice about a run and its steps names the event that it goes back to', async ({ engine }) => {
  const pay = define('pay', async ({ step, log }) => {
    log.info('begin')
    await step.run('pay', () => 1)
    await step.run('fail', () => Promise.reject(new Error('no')), { retry: { attempts: 1 } })
  })
  await engine.start([pay])
  await engine.run('pay')
  const about = engine.heard.filter((notice) => 'root' in notice)
  expect(about.map(({ kind }) => kind)).toEqual(expect.arrayContaining(['run.log', 'run.started', 'step.completed']))
  for (const notice of about) expect(notice).toMatchObject({ root: ROOT })
})

test('a step that sends an event, now or later, or makes a schedule is told as completed', async ({ engine }) => {
  const tell = define('tell', async ({ step }) => {
    await step.send('now', 'order.shipped', {})
    await step.send('later', 'order.paid', {}, { at: engine.clock.now() + 3_600_000 })
    await step.unschedule('nightly')
  })
  await engine.start([tell])
  const { id } = await engine.run('tell')
  await awaitStatus(engine, id, 'completed')
  expect(engine.heard.filter(({ kind }) => kind === 'step.completed')).toMatchObject([
    { step: 'now', target: 'order.shipped', effect: 'write', sent: expect.stringMatching(/^evt_/) },
    { step: 'later', target: 'order.paid' },
    { target: 'nightly' },
  ])
})

test('a failed attempt says how long it took', async ({ engine }) => {
  const late = define('late', ({ step }) =>
    step.run('wait', () => {
      engine.clock.advance('3s')
      throw new RetryAfter('10s')
    }),
  )
  await engine.start([late])
  await engine.run('late')
  expect(engine.heard.find(({ kind }) => kind === 'step.failed')).toMatchObject({
    ms: 3_000,
    effect: 'write',
    attempt: 1,
  })
})
