import { expect } from 'vitest'
import { z } from 'zod'
import { defineEvent } from '../../../src/author/define-event.ts'
import { defineWorkflow } from '../../../src/author/define-workflow.ts'
import type { CancelRule } from '../../../src/author/workflow.ts'
import type { Store } from '../../../src/core/store/store.ts'
import type { Worker } from '../../../src/engine/worker.ts'
import { awaitStatus } from '../../support/await-runs.ts'
import { countWrites } from '../../support/count-writes.ts'
import { deliverEvent } from '../../support/deliver-event.ts'
import { eventBody, incoming } from '../../support/fixtures.ts'
import { createTestEngine, type TestEngine, test } from '../../support/test-engine.ts'

const deleted = defineEvent('file.deleted', {
  data: z.looseObject({ fileId: z.string() }),
  keys: { file: (data) => data.fileId },
})

const created = defineEvent('file.created', { data: z.looseObject({ fileId: z.string().nullable() }) })

const byFile: CancelRule<typeof created> = { on: deleted, where: { file: (event) => event.data.fileId } }

async function queue(engine: TestEngine, fileId: string | null, workflow = 'patient'): Promise<string> {
  const id = `evt_${fileId}`
  const body = eventBody(id, 'file.created', { fileId })
  const { runs } = await engine.store.saveDelivery(incoming(id, { body, workflows: [workflow] }))
  return runs[0] ?? ''
}

const patient = (hasRun: () => void = () => {}) =>
  defineWorkflow({
    id: 'patient',
    on: created,
    cancelOn: byFile,
    run: async ({ step }) => {
      await step.run('begin', hasRun)
      await step.sleep('nap', '1d')
    },
  })

const deletion = (fileId: string, id = `evt_gone_${fileId}`) => ({ id, type: 'file.deleted', data: { fileId } })

test('an event cancels a run at work and aborts its signal', async ({ engine }) => {
  const begun = Promise.withResolvers<AbortSignal>()
  const worker = await engine.start([
    defineWorkflow({
      id: 'patient',
      on: created,
      cancelOn: [{ on: 'transfer.completed' }, byFile],
      run: ({ signal }) => {
        begun.resolve(signal)
        return new Promise<void>(() => {})
      },
    }),
  ])
  const runId = await queue(engine, 'fil_1')
  worker.wake()
  const signal = await begun.promise
  const aborted = new Promise((resolve) => signal.addEventListener('abort', resolve))
  await deliverEvent(engine, worker, deletion('fil_1'))
  await aborted
  expect(await awaitStatus(engine, runId, 'canceled')).toMatchObject({ status: 'canceled' })
})

test('an event from before the run does not cancel it', async ({ engine }) => {
  const worker = await engine.start([patient()])
  await deliverEvent(engine, worker, deletion('fil_1', 'evt_before'))
  const runId = await queue(engine, 'fil_1')
  worker.wake()
  await awaitStatus(engine, runId, 'waiting')
  await deliverEvent(engine, worker, deletion('fil_1', 'evt_after'))
  expect((await awaitStatus(engine, runId, 'canceled')).reason).toContain('evt_after')
})

test('a run whose `cancelOn` the store cannot save goes on by itself', async ({ engine }) => {
  let isAway = true
  const watchRun: Store['watchRun'] = (...given) =>
    isAway ? Promise.reject(new Error('the database is away')) : engine.store.watchRun(...given)
  const worker = await engine.start([patient()], { store: { ...engine.store, watchRun } })
  const runId = await queue(engine, 'fil_1')
  worker.wake()
  expect(await awaitStatus(engine, runId, 'waiting')).toMatchObject({
    reason: 'interrupted: the database is away',
    dueAt: engine.clock.now() + 5_000,
  })
  isAway = false
  expect((await engine.advance(runId, '5s')).reason).toContain('nap')
})

test('a null value in `cancelOn` cancels nothing, and a function that throws parks the run', async ({ engine }) => {
  const broken = defineWorkflow({
    id: 'broken',
    on: created,
    cancelOn: {
      on: deleted,
      where: {
        file: () => {
          throw new Error('no such thing')
        },
      },
    },
    run: () => 'ran',
  })
  const worker = await engine.start([patient(), broken])
  const unnamed = await queue(engine, null)
  const parked = await queue(engine, 'fil_9', 'broken')
  worker.wake()
  await awaitStatus(engine, unnamed, 'waiting')
  expect(await awaitStatus(engine, parked, 'waiting')).toMatchObject({
    dueAt: null,
    reason: expect.stringContaining('no such thing'),
  })
  expect((await engine.store.listMatchCursors()).cursors.some((cursor) => cursor.isOpen)).toBe(false)
})

test('an event cancels its run at whichever write of the run it is stored', async () => {
  for (const when of ['before', 'after'] as const) {
    for (let at = 1; ; at++) {
      const engine = createTestEngine()
      let isReached = false
      const workers: Worker[] = []
      const told = async (write: number) => {
        if (write !== at) return
        isReached = true
        await deliverEvent(engine, workers, deletion('fil_1'))
      }
      const store = countWrites(engine.store, { [when]: told })
      const runId = await queue(engine, 'fil_1')
      workers.push(await engine.start([patient()], { store }))
      await awaitStatus(engine, runId, 'waiting', 'canceled')
      if (!isReached) {
        expect(at).toBeGreaterThan(4)
        break
      }
      expect(await awaitStatus(engine, runId, 'canceled')).toMatchObject({ status: 'canceled' })
    }
  }
})

test('a run keeps the rules that it began with, and one that is added behind them counts', async ({ engine }) => {
  const rules = (...types: string[]) =>
    defineWorkflow({
      id: 'patient',
      on: created,
      cancelOn: types.map((on) => ({ on })),
      run: async ({ step }) => void (await step.sleep('nap', '1d')),
    })
  const begin = async (fileId: string, ...types: string[]) => {
    const worker = await engine.start([rules(...types)])
    const id = await queue(engine, fileId)
    worker.wake()
    await awaitStatus(engine, id, 'waiting')
    await worker.stop()
    return id
  }
  const end = async (id: string, event: string, ...types: string[]) => {
    const worker = await engine.start([rules(...types)])
    await deliverEvent(engine, worker, { id: `evt_${event}`, type: event, data: {} })
    const { status } = await engine.advance(id, '1d')
    await worker.stop()
    return status
  }
  expect(await end(await begin('fil_1', 'one.gone'), 'other.gone', 'other.gone')).toBe('completed')
  expect(await end(await begin('fil_2', 'one.gone'), 'one.gone', 'other.gone')).toBe('canceled')
  expect(await end(await begin('fil_3', 'one.gone'), 'third.gone', 'one.gone', 'third.gone')).toBe('canceled')
})

test('a `cancelOn` rule with an undeclared key is refused', () => {
  expect(() =>
    defineWorkflow({ id: 'odd', on: created, cancelOn: { on: deleted, where: { owner: () => 'x' } }, run: () => null }),
  ).toThrow(/"owner" is not a key/)
})

test('a value of `cancelOn` that is a promise parks the run with the remedy', async ({ engine }) => {
  const file = () => Promise.reject(new Error('nobody awaits this'))
  const cancelOn = { on: deleted, where: { file: file as never } }
  await engine.start([defineWorkflow({ id: 'late', on: created, cancelOn, run: () => 1 })])
  const id = await queue(engine, 'fil_1', 'late')
  expect(await engine.passOf(id)).toMatchObject({
    status: 'waiting',
    dueAt: null,
    reason: expect.stringMatching(/`cancelOn` failed: .* not a promise: its function must be synchronous/),
  })
})
