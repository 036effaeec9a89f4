import { expect, test } from 'vitest'
import { z } from 'zod'
import { defineEvent } from '../../../src/author/define-event.ts'
import { defineWorkflow } from '../../../src/author/define-workflow.ts'
import type { Worker } from '../../../src/engine/worker.ts'
import { eventBody, incoming, queueRun } from '../../support/fixtures.ts'
import { createTestEngine, type TestEngine } from '../../support/test-engine.ts'
import { openTestStore } from '../../support/test-store.ts'
import { arrival, countWrites, tell } from '../../support/told.ts'

const moved = defineEvent('transfer.completed', {
  data: z.looseObject({
    transferId: z.union([z.string(), z.number()]),
    bytes: z.string().transform(Number),
    path: z.string(),
  }),
  keys: { transfer: (data) => data.transferId, path: (data) => data.path },
})
const transfer = (transferId: string | number, path = '/a', bytes = '12') => ({ transferId, path, bytes })

/** Waits for transfer t1, an hour at most. */
const waiting = (since: 'now' | 'run' = 'now') =>
  defineWorkflow({
    id: 'waiting',
    on: 'file.created',
    run: async ({ step }) => {
      const event = await step.waitFor('moved', { on: moved, where: { transfer: 't1' }, timeout: '1h', since })
      return event && { id: event.id, bytes: event.data.bytes }
    },
  })

test('goes on with the event whose key fits, read by its definition', async () => {
  const engine = createTestEngine()
  const worker = await engine.start([waiting()])
  const parked = await engine.run('waiting')
  expect(parked).toMatchObject({
    status: 'waiting',
    awaits: true,
    dueAt: engine.clock.now() + 3_600_000,
    reason: 'waits for transfer.completed with transfer t1 in step "moved"',
  })
  await tell(engine, worker, { id: 'evt_other', type: 'transfer.completed', data: transfer('t2') })
  await tell(engine, worker, { id: 'evt_type', type: 'transfer.failed', data: transfer('t1') })
  await tell(engine, worker, { id: 'evt_fits', type: 'transfer.completed', data: transfer('t1') })
  await tell(engine, worker, { id: 'evt_late', type: 'transfer.completed', data: transfer('t1') })
  const run = await arrival(engine, parked.id, 'completed')
  expect(run.output).toBe('{"id":"evt_fits","bytes":12}')
  expect(await engine.store.listSteps(run.id)).toMatchObject([
    { key: 'moved', kind: 'wait', effect: 'read', status: 'completed', target: 'transfer.completed with transfer t1' },
  ])
})

test('gives null when no event has come in time', async () => {
  const engine = createTestEngine()
  const worker = await engine.start([waiting()])
  const parked = await engine.run('waiting')
  await tell(engine, worker, { id: 'evt_other', type: 'transfer.completed', data: transfer('t2') })
  expect(await engine.advance(parked.id, '1h')).toMatchObject({ status: 'completed', output: 'null' })
})

test('takes an event that came in time, and none that came later, though nobody was there to match it', async () => {
  for (const [receivedAfter, output] of [
    ['59m', '{"id":"evt_fits","bytes":12}'],
    ['61m', 'null'],
  ] as const) {
    const engine = createTestEngine()
    const first = await engine.start([waiting()])
    const parked = await engine.run('waiting')
    await first.stop()
    engine.clock.advance(receivedAfter)
    await tell(engine, [], { id: 'evt_fits', type: 'transfer.completed', data: transfer('t1') })
    engine.clock.advance('1h')
    await engine.start([waiting()])
    expect(await arrival(engine, parked.id, 'completed')).toMatchObject({ output })
  }
})

test('is not over before every event that came in time has been matched', async () => {
  const engine = createTestEngine()
  const first = await engine.start([waiting()])
  const parked = await engine.run('waiting')
  await first.stop()
  await tell(engine, [], { id: 'evt_fits', type: 'transfer.completed', data: transfer('t1') })
  engine.clock.advance('1h')
  const asked = Promise.withResolvers<void>()
  const store = new Proxy(engine.store, {
    get(target, name) {
      // The matching stage begins only when the run, due at its timeout, has asked in vain.
      if (name === 'listMatchCursors') return () => asked.promise.then(() => target.listMatchCursors())
      if (name !== 'findMatch') return Reflect.get(target, name)
      return async (...args: Parameters<typeof target.findMatch>) => {
        const event = await target.findMatch(...args)
        asked.resolve()
        return event
      }
    },
  })
  await engine.start([waiting()], { store })
  expect((await arrival(engine, parked.id, 'completed')).output).toContain('evt_fits')
})

test('counts events since now: not those that were there before', async () => {
  const engine = createTestEngine()
  const worker = await engine.start([waiting('now')])
  const runId = await queueRun(engine.store, 'evt_1', 'waiting')
  await tell(engine, [], { id: 'evt_before', type: 'transfer.completed', data: transfer('t1') })
  worker.wake()
  await arrival(engine, runId, 'waiting')
  await tell(engine, worker, { id: 'evt_after', type: 'transfer.completed', data: transfer('t1') })
  expect((await arrival(engine, runId, 'completed')).output).toContain('evt_after')
})

test('counts events since the run was made: not its own, and none from before', async () => {
  const engine = createTestEngine()
  const selfish = defineWorkflow({
    id: 'selfish',
    on: moved,
    run: async ({ step }) =>
      (await step.waitFor('moved', { on: moved, where: { transfer: 't1' }, timeout: '1h', since: 'run' }))?.id,
  })
  const worker = await engine.start([selfish])
  await tell(engine, [], { id: 'evt_before', type: 'transfer.completed', data: transfer('t1') })
  const own = { id: 'evt_own', type: 'transfer.completed', data: transfer('t1'), workflows: ['selfish'] }
  const [runId = ''] = await tell(engine, [], own)
  await tell(engine, [], { id: 'evt_between', type: 'transfer.completed', data: transfer('t1') })
  worker.wake()
  expect((await arrival(engine, runId, 'completed')).output).toBe('"evt_between"')
})

/**
 * The engine with its store wrapped, so that the event is stored at one point of a run that waits
 * for it.
 */
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
    await tell(engine, workers, { id: 'evt_fits', type: 'transfer.completed', data: transfer('t1') })
  }
  const store = countWrites(engine.store, { [at.when]: told })
  const runId = await queueRun(engine.store, 'evt_1', 'waiting')
  workers.push(await engine.start([waiting(since)], { store }))
  const parked = await arrival(engine, runId, 'waiting', 'completed')
  // No write is left, and nothing happened: the run waits.
  if (!isReached && parked.status === 'waiting') return { output: null, isReached }
  const { output } = await arrival(engine, runId, 'completed')
  return { output, isReached }
}

test('misses no event, whichever write of the run it is stored at', async () => {
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

test('misses no event from the moment on that the wait is stored', async () => {
  // Claim, checkpoint, park: the wait is in the commit of the second.
  for (const at of [
    { write: 2, when: 'after' },
    { write: 3, when: 'before' },
    { write: 3, when: 'after' },
  ] as const) {
    expect(await findAt(at, 'now')).toEqual({ output: '{"id":"evt_fits","bytes":12}', isReached: true })
  }
})

test('matches several keys at once, and 7 like "7"', async () => {
  const engine = createTestEngine()
  const both = defineWorkflow({
    id: 'both',
    on: 'file.created',
    run: async ({ step }) =>
      (await step.waitFor('moved', { on: moved, where: { transfer: 7, path: '/a' }, timeout: '1h' }))?.id,
  })
  const worker = await engine.start([both])
  const parked = await engine.run('both')
  await tell(engine, worker, { id: 'evt_path', type: 'transfer.completed', data: transfer('8', '/a') })
  await tell(engine, worker, { id: 'evt_number', type: 'transfer.completed', data: transfer(7, '/b') })
  await tell(engine, worker, { id: 'evt_both', type: 'transfer.completed', data: transfer('7', '/a') })
  expect((await arrival(engine, parked.id, 'completed')).output).toBe('"evt_both"')
})

test('without keys takes any event of the type, or of a family, in its account', async () => {
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
  await tell(engine, worker, { id: 'evt_foreign', type: 'transfer.failed', data: {}, account: 'other' })
  await tell(engine, worker, { id: 'evt_family', type: 'transfer.completed', data: {} })
  await tell(engine, worker, { id: 'evt_one', type: 'transfer.failed', data: {} })
  expect((await arrival(engine, parked.id, 'completed')).output).toBe('["evt_one","evt_family"]')
})

test('one event sets all runs going that wait for it, and starts its own', async () => {
  const engine = createTestEngine()
  const started = defineWorkflow({ id: 'started', on: moved, run: () => 'started' })
  const worker = await engine.start([waiting(), started])
  const runs = []
  for (let n = 0; n < 20; n++) runs.push(await engine.run('waiting', `evt_${n}`))
  const own = { id: 'evt_fits', type: 'transfer.completed', data: transfer('t1'), workflows: ['started'] }
  const [startedId = ''] = await tell(engine, worker, own)
  for (const { id } of runs) expect((await arrival(engine, id, 'completed')).output).toContain('evt_fits')
  expect((await arrival(engine, startedId, 'completed')).output).toBe('"started"')
})

test('survives a restart between the wait, the event and the end', async () => {
  const engine = createTestEngine()
  const first = await engine.start([waiting()])
  const parked = await engine.run('waiting')
  await first.stop()
  await tell(engine, first, { id: 'evt_fits', type: 'transfer.completed', data: transfer('t1') })
  await engine.start([waiting()])
  expect((await arrival(engine, parked.id, 'completed')).output).toContain('evt_fits')
})

test('goes on past an event whose key cannot be computed, and says so', async () => {
  const engine = createTestEngine()
  const worker = await engine.start([waiting()])
  const parked = await engine.run('waiting')
  await tell(engine, worker, { id: 'evt_odd', type: 'transfer.completed', data: { transferId: 't1' } })
  await tell(engine, worker, { id: 'evt_fits', type: 'transfer.completed', data: transfer('t1') })
  expect((await arrival(engine, parked.id, 'completed')).output).toContain('evt_fits')
  const unmatched = engine.heard.filter((notice) => notice.kind === 'event.unmatched')
  expect(unmatched).toMatchObject([{ event: 'evt_odd', type: 'transfer.completed', key: 'transfer' }])
})

test('an event whose data is not what the workflow relies on leaves the run to a person', async () => {
  const engine = createTestEngine()
  const strict = defineEvent('file.deleted', { data: z.object({ size: z.number() }) })
  const worker = await engine.start([
    defineWorkflow({ id: 'strict', on: '*', run: ({ step }) => step.waitFor('gone', { on: strict, timeout: '1h' }) }),
  ])
  const parked = await engine.run('strict')
  await tell(engine, worker, { id: 'evt_odd', type: 'file.deleted', data: { size: 'large' } })
  await engine.notices.once('run.parked', ({ dueAt, awaits }) => dueAt === null && !awaits)
  const run = await engine.store.findRun(parked.id)
  expect(run).toMatchObject({ status: 'waiting', dueAt: null, awaits: false })
  expect(run?.reason).toContain('data.size')
})

test('refuses a key that nobody declares', async () => {
  const engine = createTestEngine()
  const where = { owner: 'me' } as unknown as { path: string }
  await engine.start([
    defineWorkflow({ id: 'odd', on: '*', run: ({ step }) => step.waitFor('x', { on: moved, where, timeout: '1h' }) }),
  ])
  expect(await engine.run('odd')).toMatchObject({
    status: 'failed',
    error: { message: expect.stringContaining('No key "owner" is declared') },
  })
})

test('two processes match one stream of events and set each run going once', async () => {
  const engine = createTestEngine()
  const other = openTestStore(engine.folder)
  const workers = [await engine.start([waiting()]), await engine.start([waiting()], { store: other })]
  const runs = []
  for (let n = 0; n < 10; n++) runs.push(await engine.run('waiting', `evt_${n}`))
  for (let n = 0; n < 50; n++) {
    await tell(engine, workers, { id: `evt_noise${n}`, type: 'transfer.completed', data: transfer(`n${n}`) })
  }
  await tell(engine, workers, { id: 'evt_fits', type: 'transfer.completed', data: transfer('t1') })
  for (const { id } of runs) expect((await arrival(engine, id, 'completed')).output).toContain('evt_fits')
  const ends = engine.heard.filter((notice) => notice.kind === 'run.completed')
  expect(ends).toHaveLength(runs.length)
})

test('what nobody waits for costs nothing', async () => {
  const engine = createTestEngine()
  const asked: string[] = []
  const store = new Proxy(engine.store, {
    get(target, name) {
      if (/Watch|Match|EventsAfter/.test(String(name))) asked.push(String(name))
      return Reflect.get(target, name)
    },
  })
  const worker = await engine.start([defineWorkflow({ id: 'plain', on: moved, run: () => null })], { store })
  asked.length = 0
  for (let n = 0; n < 50; n++) {
    const event = { id: `evt_${n}`, type: 'transfer.completed', data: transfer('t1'), workflows: ['plain'] }
    const [runId = ''] = await tell(engine, worker, event)
    await arrival(engine, runId, 'completed')
  }
  expect(asked).toEqual([])
})

test('a wait that the run no longer needs goes with it', async () => {
  const engine = createTestEngine()
  const worker = await engine.start([
    defineWorkflow({
      id: 'race',
      on: '*',
      run: ({ step }) =>
        Promise.race([
          step.waitFor('moved', { on: moved, where: { transfer: 't1' }, timeout: '1h' }),
          step.run('quick', () => 'quick'),
        ]),
    }),
  ])
  expect(await engine.run('race')).toMatchObject({ status: 'completed', output: '"quick"' })
  const { cursors } = await engine.store.listMatchCursors()
  expect(cursors.filter((cursor) => cursor.isOpen)).toEqual([])
  await worker.stop()
})

test('matches events again when the functions of a key have changed', async () => {
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
  await tell(engine, first, { id: 'evt_second', type: 'thing.changed', data: { first: 'y', second: 'x' } })
  await moveOn(engine)
  expect(await engine.store.findRun(parked.id)).toMatchObject({ status: 'waiting' })
  await first.stop()
  await engine.start([workflowOf(define((thing) => thing.second))])
  expect((await arrival(engine, parked.id, 'completed')).output).toBe('"evt_second"')
})

/** Waits until every event has been matched. */
async function moveOn(engine: TestEngine): Promise<void> {
  for (;;) {
    const { cursors, newest } = await engine.store.listMatchCursors()
    if (cursors.every((cursor) => !cursor.isOpen || cursor.position >= newest)) return
    await new Promise((resolve) => setImmediate(resolve))
  }
}

test('a run made by a tick finds events since that tick', async () => {
  const engine = createTestEngine()
  const worker = await engine.start([waiting('run')])
  await engine.store.saveDelivery(
    incoming('evt_before', { workflows: [], body: eventBody('evt_before', 'transfer.completed', transfer('t1')) }),
  )
  await engine.store.startSchedule('waiting', 'any', engine.clock.now())
  const tick = { scheduledFor: engine.clock.now(), missed: 0 }
  const runId = (await engine.store.recordTick('waiting', tick, engine.clock.now())) ?? ''
  await tell(engine, [], { id: 'evt_between', type: 'transfer.completed', data: transfer('t1') })
  worker.wake()
  expect((await arrival(engine, runId, 'completed')).output).toContain('evt_between')
})
