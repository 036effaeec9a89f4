import { expect } from 'vitest'
import { z } from 'zod'
import { defineEvent } from '../../../src/author/define-event.ts'
import { defineWorkflow } from '../../../src/author/define-workflow.ts'
import { awaitStatus } from '../../support/await-runs.ts'
import { deliverEvent } from '../../support/deliver-event.ts'
import { createTestEngine, test } from '../../support/test-engine.ts'
import { define } from '../../support/workflows.ts'

test('a sent event exists once, starts its workflows and resolves waits', async ({ engine }) => {
  const done = defineEvent('order.shipped', {
    data: z.object({ order: z.number() }),
    keys: { order: (data) => data.order },
  })
  const sender = define('sender', { on: 'file.created' }, async ({ step }) => {
    const sent = await step.send('tell', done, { order: 7 })
    await step.sleep('nap', '1m')
    return sent
  })
  const listener = defineWorkflow({ id: 'listener', on: done, run: ({ event }) => event.data.order })
  const waiter = define(
    'waiter',
    { on: 'file.created' },
    async ({ step }) => (await step.waitFor('shipped', { on: done, where: { order: 7 }, timeout: '1h' }))?.data.order,
  )
  await engine.start([sender, listener, waiter])
  const waiting = await engine.run('waiter', 'evt_1')
  const sending = await engine.run('sender', 'evt_2')
  expect((await awaitStatus(engine, waiting.id, 'completed')).output).toBe('7')
  const ended = await engine.advance(sending.id, '1m')
  const { id } = JSON.parse(ended.output ?? '')
  expect(id).toMatch(/^evt_[0-9a-z]{26}$/)
  const events = await engine.store.listEvents({ limit: 10, type: 'order.shipped' })
  expect(events).toMatchObject([{ id, origin: 'send', account: 'default' }])
  const [started] = await engine.store.listRuns({ workflow: 'listener', limit: 10 })
  expect(await awaitStatus(engine, started?.id ?? '', 'completed')).toMatchObject({ eventId: id, output: '7' })
})

test('a sent event belongs to the account of its run', async ({ engine }) => {
  const sender = define('sender', ({ step }) => step.send('tell', 'order.shipped', {}))
  const worker = await engine.start([sender])
  const [runId = ''] = await deliverEvent(engine, worker, {
    id: 'evt_1',
    type: 'file.created',
    data: {},
    account: 'other',
    workflows: ['sender'],
  })
  await awaitStatus(engine, runId, 'completed')
  expect(await engine.store.listEvents({ limit: 1, type: 'order.shipped' })).toMatchObject([{ account: 'other' }])
})

test.each([
  ['data of another shape', { order: 'x' }, 'data.order'],
  ['more than a delivery may hold', { order: 1, text: 'x'.repeat(1_100_000) }, 'Send ids, not content'],
])('a send is refused for %s', async (_what, data, message) => {
  const engine = createTestEngine()
  const shipped = defineEvent('order.shipped', { data: z.looseObject({ order: z.number() }) })
  await engine.serve('odd', { retry: { attempts: 1 } }, ({ step }) => step.send('tell', shipped, data as never))
  expect(await engine.run('odd')).toMatchObject({
    status: 'failed',
    error: { message: expect.stringContaining(message) },
  })
  expect(await engine.store.listEvents({ limit: 1, type: 'order.shipped' })).toEqual([])
})

test('a workflow cannot send an event of a type under upshot', async ({ engine }) => {
  const sender = define('sender', { retry: { attempts: 1 } }, ({ step }) => step.send('tell', 'upshot.test', {}))
  await engine.start([sender])
  const { id } = await engine.run('sender')
  const { error } = await awaitStatus(engine, id, 'failed')
  expect(error).toMatchObject({ code: 'invalid_workflow', message: expect.stringContaining('reserved') })
  expect(await engine.store.listEvents({ limit: 10, type: 'upshot.test' })).toEqual([])
})
