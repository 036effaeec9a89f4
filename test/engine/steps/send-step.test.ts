import { expect } from 'vitest'
import { z } from 'zod'
import { defineEvent } from '../../../src/author/define-event.ts'
import { defineWorkflow } from '../../../src/author/define-workflow.ts'
import { MAX_DEPTH, SENT_LINK } from '../../../src/core/runs/wait.ts'
import { awaitStatus } from '../../support/await-runs.ts'
import { deliverEvent } from '../../support/deliver-event.ts'
import { NOW } from '../../support/fixtures.ts'
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
  expect(id).toMatch(/^evt_upshot_[0-9a-z]{26}$/)
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

test('an event that does not fit its definition is not sent, and fails the run at once', async ({ engine }) => {
  const done = defineEvent('order.shipped', { data: z.object({ order: z.number() }) })
  await engine.serve('sender', {}, ({ step }) => step.send('tell', done, { order: '7' } as never))
  const { status, error } = await engine.run('sender')
  expect({ status, error }).toMatchObject({
    status: 'failed',
    error: {
      code: 'invalid_workflow',
      message: expect.stringMatching(/^Step "tell" sends data that does not fit .* order\.shipped: data\.order: /),
    },
  })
})

test('a workflow cannot send an event of a type under upshot', async ({ engine }) => {
  const sender = define('sender', { retry: { attempts: 1 } }, ({ step }) => step.send('tell', 'upshot.test', {}))
  await engine.start([sender])
  const { id } = await engine.run('sender')
  const { error } = await awaitStatus(engine, id, 'failed')
  expect(error).toMatchObject({ code: 'invalid_workflow', message: expect.stringContaining('reserved') })
  expect(await engine.store.listEvents({ limit: 10, type: 'upshot.test' })).toEqual([])
})

/** Sends an event whose run sends the next one; the first run has this depth. */
async function sendChain(depth: number, run: (send: () => Promise<unknown>, nap: () => Promise<void>) => unknown) {
  const engine = createTestEngine()
  const again = define('again', { on: 'ping' }, ({ step }) =>
    run(
      () => step.send('next', 'pong', {}),
      () => step.sleep('nap', '1m'),
    ),
  )
  await engine.start([again, define('end', { on: 'pong' }, () => 'done')])
  const body = JSON.stringify({ id: 'evt_first', type: 'ping', created: new Date(NOW).toISOString(), data: {} })
  const event = { id: 'evt_first', type: 'ping', account: 'default', createdAt: NOW, body, depth }
  const about = { id: 'sch_1', name: 'first', owner: 'code', madeBy: 'run_0', workflow: null } as const
  const plan = {
    kind: 'once',
    at: NOW,
    catchUp: 'latest',
    withinMs: 1,
    overlap: 'allow',
    accounts: ['default'],
  } as const
  const workflows = [{ id: 'again', file: 'again.ts', eventTypes: ['ping'], schedule: null }]
  await engine.store.saveWorkflows({ workflows, broken: [] }, NOW)
  await engine.store.addSchedule({ ...about, plan, input: JSON.stringify(event) }, NOW)
  const version = (await engine.store.listDueSchedules(NOW, { limit: 1 }))[0]?.version ?? 0
  await engine.store.sendScheduled('sch_1', version, NOW)
  const [{ id } = { id: '' }] = await engine.store.listRuns({ workflow: 'again', limit: 1 })
  return { engine, id }
}

test('a chain of runs that send the event of the next one ends', async () => {
  const last = await sendChain(MAX_DEPTH - SENT_LINK, (send) => send())
  expect(await last.engine.passOf(last.id)).toMatchObject({ status: 'completed' })
  const [next] = await last.engine.store.listRuns({ workflow: 'end', limit: 1 })
  expect(await last.engine.passOf(next?.id ?? '')).toMatchObject({ status: 'completed', output: '"done"' })

  const { engine, id } = await sendChain(MAX_DEPTH - SENT_LINK + 1, (send) => send())
  const failed = await engine.passOf(id)
  expect(failed).toMatchObject({ status: 'failed', error: { code: 'invoke_too_deep' } })
  expect(await engine.store.listRuns({ workflow: 'end', limit: 1 })).toEqual([])
})

test('a link that takes a minute is a tenth of one without a pause', async () => {
  const { engine, id } = await sendChain(MAX_DEPTH - 1, async (send, nap) => {
    await nap()
    return send()
  })
  await engine.passOf(id)
  expect(await engine.advance(id, '1m')).toMatchObject({ status: 'completed' })
})
