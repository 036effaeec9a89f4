import { setImmediate as turn } from 'node:timers/promises'
import { expect } from 'vitest'
import { z } from 'zod'
import { defineEvent } from '../../../src/author/define-event.ts'
import type { Store } from '../../../src/core/store/store.ts'
import type { Worker } from '../../../src/engine/worker.ts'
import { awaitStatus } from '../../support/await-runs.ts'
import { countWrites } from '../../support/count-writes.ts'
import { deliverEvent } from '../../support/deliver-event.ts'
import { NOW, queueRun } from '../../support/fixtures.ts'
import { createTestEngine, test } from '../../support/test-engine.ts'
import { define } from '../../support/workflows.ts'
import { moved, transfer, waiting } from '../support/transfer-waits.ts'

/** Stores the awaited event around one write of the run that waits for it. */
async function findAt(
  at: { write: number; when: 'before' | 'after' },
  since: 'now' | 'run',
): Promise<{ output: string | null; isReached: boolean }> {
  const engine = createTestEngine()
  let isReached = false
  const workers: Worker[] = []
  const told = async (write: number) => {
    if (write !== at.write) return
    isReached = true
    await deliverEvent(engine, workers, { id: 'evt_fits', type: 'transfer.completed', data: transfer('t1') })
  }
  const store = countWrites(engine.store, { [at.when]: told })
  const runId = await queueRun(engine.store, 'evt_1', 'waiting')
  workers.push(await engine.start([waiting(since)], { store }))
  const parked = await awaitStatus(engine, runId, 'waiting', 'completed')
  // No write is left, and nothing happened: the run waits.
  if (!isReached && parked.status === 'waiting') return { output: null, isReached }
  const { output } = await awaitStatus(engine, runId, 'completed')
  return { output, isReached }
}

test('a wait ends with the event whose key matches, parsed by its definition', async ({ engine }) => {
  const worker = await engine.start([waiting()])
  const parked = await engine.run('waiting')
  expect(parked).toMatchObject({
    status: 'waiting',
    awaits: true,
    dueAt: engine.clock.now() + 3_600_000,
    reason: 'waits for transfer.completed with transfer t1 in step "moved"',
  })
  await deliverEvent(engine, worker, { id: 'evt_other', type: 'transfer.completed', data: transfer('t2') })
  await deliverEvent(engine, worker, { id: 'evt_type', type: 'transfer.failed', data: transfer('t1') })
  await deliverEvent(engine, worker, { id: 'evt_fits', type: 'transfer.completed', data: transfer('t1') })
  await deliverEvent(engine, worker, { id: 'evt_late', type: 'transfer.completed', data: transfer('t1') })
  const run = await awaitStatus(engine, parked.id, 'completed')
  expect(run.output).toBe('{"id":"evt_fits","bytes":12}')
  expect(await engine.store.listSteps(run.id)).toMatchObject([
    { key: 'moved', kind: 'wait', effect: 'read', status: 'completed', target: 'transfer.completed with transfer t1' },
  ])
})

test('a wait returns null when no event has come in time', async ({ engine }) => {
  const worker = await engine.start([waiting()])
  const parked = await engine.run('waiting')
  await deliverEvent(engine, worker, { id: 'evt_other', type: 'transfer.completed', data: transfer('t2') })
  expect(await engine.advance(parked.id, '1h')).toMatchObject({ status: 'completed', output: 'null' })
})

test('a wait whose time is over is not given up while events cannot be read', async ({ engine }) => {
  const first = await engine.start([waiting()])
  const parked = await engine.run('waiting')
  await first.stop()
  await deliverEvent(engine, [], { id: 'evt_fits', type: 'transfer.completed', data: transfer('t1') })
  let isAway = true
  const listEventsAfter: Store['listEventsAfter'] = (range) =>
    isAway ? Promise.reject(new Error('the database is away')) : engine.store.listEventsAfter(range)
  await engine.start([waiting()], { store: { ...engine.store, listEventsAfter } })
  const broken = await engine.advance(parked.id, '1h')
  expect(broken).toMatchObject({ status: 'waiting', reason: 'interrupted: the database is away' })
  isAway = false
  expect(await engine.advance(parked.id, '5s')).toMatchObject({ output: '{"id":"evt_fits","bytes":12}' })
})

test('a stop during the last look of a wait loses no event that came in time', async ({ engine }) => {
  const ended = Promise.withResolvers<void>()
  const findMatch: Store['findMatch'] = async (...given) => {
    const found = await engine.store.findMatch(...given)
    if (found !== null || engine.clock.now() < NOW + 3_600_000) return found
    await deliverEvent(engine, [], { id: 'evt_fits', type: 'transfer.completed', data: transfer('t1') })
    worker.stop().then(ended.resolve, ended.reject)
    await turn()
    return null
  }
  const worker = await engine.start([waiting()], { store: { ...engine.store, findMatch } })
  const parked = await engine.run('waiting')
  await engine.advance(parked.id, '1h')
  await ended.promise
  await engine.start([waiting()])
  const { output } = await awaitStatus(engine, parked.id, 'completed')
  expect(output).toBe('{"id":"evt_fits","bytes":12}')
})

test('a wait takes an event received in time, even if nobody was there to match it, and no later one', async () => {
  for (const [receivedAfter, output] of [
    ['59m', '{"id":"evt_fits","bytes":12}'],
    ['61m', 'null'],
  ] as const) {
    const engine = createTestEngine()
    const first = await engine.start([waiting()])
    const parked = await engine.run('waiting')
    await first.stop()
    engine.clock.advance(receivedAfter)
    await deliverEvent(engine, [], { id: 'evt_fits', type: 'transfer.completed', data: transfer('t1') })
    engine.clock.advance('1h')
    await engine.start([waiting()])
    expect(await awaitStatus(engine, parked.id, 'completed')).toMatchObject({ output })
  }
})

test('a wait does not time out before every event received in time has been matched', async ({ engine }) => {
  const first = await engine.start([waiting()])
  const parked = await engine.run('waiting')
  await first.stop()
  await deliverEvent(engine, [], { id: 'evt_fits', type: 'transfer.completed', data: transfer('t1') })
  engine.clock.advance('1h')
  const asked = Promise.withResolvers<void>()
  const store: Store = {
    ...engine.store,
    // The matching stage begins only when the run, due at its timeout, has asked in vain.
    listMatchCursors: () => asked.promise.then(() => engine.store.listMatchCursors()),
    async findMatch(...given) {
      const event = await engine.store.findMatch(...given)
      asked.resolve()
      return event
    },
  }
  await engine.start([waiting()], { store })
  expect((await awaitStatus(engine, parked.id, 'completed')).output).toContain('evt_fits')
})

test('a wait since the run finds its event at whichever write of the run it is stored', async () => {
  for (const when of ['before', 'after'] as const) {
    for (let write = 1; ; write++) {
      const { output, isReached } = await findAt({ write, when }, 'run')
      if (!isReached) {
        expect(write).toBeGreaterThan(3)
        break
      }
      expect([when, write, output]).toEqual([when, write, '{"id":"evt_fits","bytes":12}'])
    }
  }
})

test('a wait since now misses no event from the commit of the wait on', async () => {
  // Claim, checkpoint, park: the wait is in the commit of the second.
  for (const at of [
    { write: 2, when: 'after' },
    { write: 3, when: 'before' },
    { write: 3, when: 'after' },
  ] as const) {
    expect(await findAt(at, 'now')).toEqual({ output: '{"id":"evt_fits","bytes":12}', isReached: true })
  }
})

test('an event that does not fit the definition of a wait parks the run for a person', async ({ engine }) => {
  const strict = defineEvent('file.deleted', { data: z.object({ size: z.number() }) })
  const worker = await engine.serve('strict', ({ step }) => step.waitFor('gone', { on: strict, timeout: '1h' }))
  const parked = await engine.run('strict')
  await deliverEvent(engine, worker, { id: 'evt_odd', type: 'file.deleted', data: { size: 'large' } })
  await engine.notices.once('run.parked', ({ dueAt, awaits }) => dueAt === null && !awaits)
  const run = await engine.store.findRun(parked.id)
  expect(run).toMatchObject({ status: 'waiting', dueAt: null, awaits: false })
  expect(run?.reason).toContain('data.size')
})

test('a wait for an undeclared key fails the run', async ({ engine }) => {
  const where = { owner: 'me' } as unknown as { path: string }
  await engine.serve('odd', ({ step }) => step.waitFor('x', { on: moved, where, timeout: '1h' }))
  expect(await engine.run('odd')).toMatchObject({
    status: 'failed',
    error: { message: expect.stringContaining('No key "owner" is declared') },
  })
})

test('code that changes the event of an open wait is told once, and the wait keeps its event', async ({ engine }) => {
  const wait = (on: string) =>
    define('w', { on: 'file.created' }, async ({ step }) => {
      const [found] = await Promise.all([
        step.waitFor('go', { on, timeout: '1d' }),
        step.sleep('nap', '1h').then(() => step.sleep('long nap', '1h')),
      ])
      return found?.type
    })
  const before = await engine.start([wait('file.moved')])
  const { id } = await engine.run('w')
  await before.stop()
  const worker = await engine.start([wait('file.renamed')])
  await engine.advance(id, '1h')
  await engine.advance(id, '1h')
  await deliverEvent(engine, worker, { id: 'evt_new', type: 'file.renamed', data: {} })
  await deliverEvent(engine, worker, { id: 'evt_old', type: 'file.moved', data: {} })
  expect((await awaitStatus(engine, id, 'completed')).output).toBe('"file.moved"')
  expect(engine.heard.filter(({ kind }) => kind === 'wait.changed')).toEqual([
    {
      kind: 'wait.changed',
      run: id,
      workflow: 'w',
      step: 'go',
      target: 'file.moved',
      asked: 'file.renamed',
      place: expect.stringContaining('wait-step.test.ts:'),
    },
  ])
})
