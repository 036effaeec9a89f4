import { expect } from 'vitest'
import { z } from 'zod'
import { defineEvent } from '../../src/author/define-event.ts'
import { awaitStatus } from '../support/await-runs.ts'
import { deliverEvent } from '../support/deliver-event.ts'
import { test } from '../support/test-engine.ts'

const approved = defineEvent('order.approved', {
  data: z.looseObject({ order: z.number() }),
  keys: { order: (data) => data.order },
})

const approval = (order: number, id = `evt_ok_${order}`) => ({ id, type: 'order.approved', data: { order } })

test('a retried run registers its wait again and ignores events from between', async ({ engine }) => {
  const worker = await engine.serve(
    'order',
    async ({ step }) => (await step.waitFor('approval', { on: approved, where: { order: 1 }, timeout: '1h' }))?.id,
  )
  const parked = await engine.run('order')
  await engine.store.cancelRun(parked.id, 'by hand', engine.clock.now())
  await deliverEvent(engine, worker, approval(1, 'evt_while_canceled'))
  expect(await engine.store.retryRun(parked.id, engine.clock.now())).toBe(true)
  worker.wake()
  await awaitStatus(engine, parked.id, 'waiting')
  await deliverEvent(engine, worker, approval(1, 'evt_after'))
  expect((await awaitStatus(engine, parked.id, 'completed')).output).toBe('"evt_after"')
})

test('a fork copies a large result, and waits of forks and replays ignore earlier events', async ({ engine }) => {
  const worker = await engine.serve('order', { on: 'file.created' }, async ({ step }) => {
    const text = await step.run('text', () => 'x'.repeat(100_000))
    const event = await step.waitFor('approval', { on: approved, where: { order: 1 }, timeout: '1h', since: 'run' })
    return [text.length, event?.id]
  })
  const original = await engine.run('order')
  await deliverEvent(engine, worker, approval(1, 'evt_first'))
  expect((await awaitStatus(engine, original.id, 'completed')).output).toBe('[100000,"evt_first"]')
  const now = engine.clock.now()
  const forked = await engine.store.forkRun(original.id, { keys: ['text'], edited: null }, now)
  const [replayed = ''] = await engine.store.replayEvent({ id: 'evt_1', account: 'default' }, ['order'], now)
  worker.wake()
  for (const id of [forked, replayed]) await awaitStatus(engine, id, 'waiting')
  await deliverEvent(engine, worker, approval(1, 'evt_second'))
  for (const id of [forked, replayed]) {
    expect((await awaitStatus(engine, id, 'completed')).output).toBe('[100000,"evt_second"]')
  }
})
