import { expect, test } from 'vitest'
import { z } from 'zod'
import { defineEvent } from '../../src/author/define-event.ts'
import { defineWorkflow } from '../../src/author/define-workflow.ts'
import { awaitStatus } from '../support/await-runs.ts'
import { deliverEvent } from '../support/deliver-event.ts'
import { createTestEngine, type TestEngine } from '../support/test-engine.ts'
import { changeCode } from '../support/workflows.ts'
import { transfer, waiting } from './support/transfer-waits.ts'

/** Waits until every event has been matched. */
async function moveOn(engine: TestEngine): Promise<void> {
  for (;;) {
    const { cursors, newest } = await engine.store.listMatchCursors()
    if (cursors.every((cursor) => !cursor.isOpen || cursor.position >= (newest.get(cursor.stream) ?? 0))) return
    await new Promise((resolve) => setImmediate(resolve))
  }
}

test('a wait without keys takes any event of its type or family in its account', async () => {
  const engine = createTestEngine()
  const any = defineWorkflow({
    id: 'any',
    on: 'file.created',
    run: async ({ step }) => {
      const [one, family] = await Promise.all([
        step.waitFor('one', { on: 'transfer.failed', timeout: '1h' }),
        step.waitFor('family', { on: 'transfer.*', timeout: '1h' }),
      ])
      return [one?.id, family?.id]
    },
  })
  const worker = await engine.start([any])
  const parked = await engine.run('any')
  await deliverEvent(engine, worker, { id: 'evt_foreign', type: 'transfer.failed', data: {}, account: 'other' })
  await deliverEvent(engine, worker, { id: 'evt_family', type: 'transfer.completed', data: {} })
  await deliverEvent(engine, worker, { id: 'evt_one', type: 'transfer.failed', data: {} })
  expect((await awaitStatus(engine, parked.id, 'completed')).output).toBe('["evt_one","evt_family"]')
})

test('an event whose key cannot be computed is reported and skipped', async () => {
  const engine = createTestEngine()
  const worker = await engine.start([waiting()])
  const parked = await engine.run('waiting')
  await deliverEvent(engine, worker, { id: 'evt_odd', type: 'transfer.completed', data: { transferId: 't1' } })
  await deliverEvent(engine, worker, { id: 'evt_fits', type: 'transfer.completed', data: transfer('t1') })
  expect((await awaitStatus(engine, parked.id, 'completed')).output).toContain('evt_fits')
  const unmatched = engine.heard.filter((notice) => notice.kind === 'event.unmatched')
  expect(unmatched).toMatchObject([{ event: 'evt_odd', type: 'transfer.completed', key: 'transfer' }])
})

test('events are matched again when the functions of a key have changed', async () => {
  const engine = createTestEngine()
  const data = z.looseObject({ first: z.string(), second: z.string() })
  const define = (key: (data: { first: string; second: string }) => string) =>
    defineEvent('thing.changed', { data, keys: { thing: key } })
  const workflowOf = (on: ReturnType<typeof define>) =>
    defineWorkflow({
      id: 'thing',
      on: '*',
      run: async ({ step }) => (await step.waitFor('thing', { on, where: { thing: 'x' }, timeout: '1h' }))?.id,
    })
  const first = await engine.start([workflowOf(define((thing) => thing.first))])
  const parked = await engine.run('thing')
  await deliverEvent(engine, first, { id: 'evt_second', type: 'thing.changed', data: { first: 'y', second: 'x' } })
  await moveOn(engine)
  expect(await engine.store.findRun(parked.id)).toMatchObject({ status: 'waiting' })
  await changeCode(engine, first, [workflowOf(define((thing) => thing.second))])
  expect((await awaitStatus(engine, parked.id, 'completed')).output).toBe('"evt_second"')
})
