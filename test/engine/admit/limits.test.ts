import { expect, test } from 'vitest'
import { defineWorkflow } from '../../../src/author/define-workflow.ts'
import type { ServiceEvent } from '../../../src/core/incoming/event.ts'
import { awaitRuns, haveStatus } from '../../support/await-runs.ts'
import { NOW, queueRun } from '../../support/fixtures.ts'
import { createGates, sendEvents } from '../../support/limited-runs.ts'
import { createTestEngine } from '../../support/test-engine.ts'
import { openTestStore } from '../../support/test-store.ts'

const folderOf = (event: ServiceEvent) => String(event.data.folder)

test('lets as many runs of a key work as its limit says, the oldest first, and says what the others wait for', async () => {
  const engine = createTestEngine()
  const gates = createGates(engine)
  const workflow = defineWorkflow({
    id: 'limited',
    on: 'file.created',
    concurrency: { limit: 2, key: folderOf },
    run: ({ run, step }) => step.run('work', () => gates.work(run.id)),
  })
  const worker = await engine.start([workflow])
  const ids = await sendEvents(
    engine,
    workflow,
    [{ folder: 'a' }, { folder: 'a' }, { folder: 'a' }, { folder: 'b' }],
    [worker],
  )
  const [first = '', second = '', third = '', other = ''] = ids
  await awaitRuns(engine, () => gates.started.length === 3)
  const runs = await awaitRuns(engine, haveStatus({ running: 3, waiting: 1 }))
  expect(runs.find((run) => run.id === third)).toMatchObject({
    status: 'waiting',
    isInLine: true,
    dueAt: null,
    startedAt: null,
    reason: 'concurrency: 2 of 2 runs with key a are at work',
  })
  expect(gates.started.toSorted()).toEqual([first, second, other].toSorted())
  gates.open(second)
  await awaitRuns(engine, () => gates.started.includes(third))
  gates.stayOpen()
  await awaitRuns(engine, haveStatus({ completed: 4 }))
})

test('holds a limit that two workers with stores of their own share', async () => {
  const engine = createTestEngine()
  const gates = createGates(engine)
  const workflow = defineWorkflow({
    id: 'shared',
    on: '*',
    concurrency: { limit: 3 },
    run: ({ run, step }) => step.run('work', () => gates.work(run.id)),
  })
  const workers = [
    await engine.start([workflow], { slots: 5 }),
    await engine.start([workflow], { slots: 5, store: openTestStore(engine.folder) }),
  ]
  const ids = await sendEvents(engine, workflow, Array(20).fill({}), workers)
  for (let left = ids.length; left > 0; left -= 3) {
    await awaitRuns(engine, (runs) => runs.filter((run) => run.status === 'running').length === Math.min(3, left))
    await awaitRuns(engine, () => gates.started.length === ids.length - left + Math.min(3, left))
    gates.openAll()
    await awaitRuns(
      engine,
      (runs) => runs.filter((run) => run.status === 'completed').length >= ids.length - left + Math.min(3, left),
    )
    for (const worker of workers) worker.wake()
  }
  expect(gates.most).toBe(3)
  expect(gates.started.toSorted()).toEqual(ids)
}, 30_000)

test('needs a slot of both limits, and a key that is full keeps no other key waiting', async () => {
  const engine = createTestEngine()
  const gates = createGates(engine)
  const workflow = defineWorkflow({
    id: 'both',
    on: 'file.created',
    concurrency: [{ limit: 2 }, { limit: 1, key: folderOf }],
    run: ({ run, step }) => step.run('work', () => gates.work(run.id)),
  })
  const worker = await engine.start([workflow])
  const ids = await sendEvents(
    engine,
    workflow,
    ['a', 'a', 'b', 'c'].map((folder) => ({ folder })),
    [worker],
  )
  const [a1 = '', a2 = '', b = '', c = ''] = ids
  await awaitRuns(engine, () => gates.started.length === 2)
  const runs = await awaitRuns(engine, haveStatus({ running: 2, waiting: 2 }))
  expect(gates.started).toEqual([a1, b])
  expect(runs.map((run) => run.reason)).toEqual([
    null,
    'concurrency: 1 of 1 runs with key a are at work',
    null,
    'concurrency: 2 of 2 runs are at work',
  ])
  gates.open(b)
  await awaitRuns(engine, () => gates.started.includes(c))
  gates.open(a1)
  await awaitRuns(engine, () => gates.started.includes(a2))
  expect(gates.most).toBe(2)
  gates.stayOpen()
  await awaitRuns(engine, haveStatus({ completed: 4 }))
})

test('gives the slot of a run that sleeps to the next one', async () => {
  const engine = createTestEngine()
  const gates = createGates(engine)
  const workflow = defineWorkflow({
    id: 'sleepy',
    on: 'file.created',
    concurrency: { limit: 1 },
    run: async ({ run, step }) => {
      if (run.id === ids[0]) await step.sleep('nap', '1m')
      await step.run('work', () => gates.work(run.id))
    },
  })
  let ids: string[] = []
  const worker = await engine.start([workflow])
  ids = await sendEvents(engine, workflow, [{}, {}], [])
  worker.wake()
  const [sleeper = '', next = ''] = ids
  await awaitRuns(engine, () => gates.started.includes(next))
  engine.clock.advance('1m')
  const runs = await awaitRuns(engine, (all) => all[0]?.isInLine === true)
  expect(runs[0]?.startedAt).toBe(NOW)
  expect(gates.started).toEqual([next])
  gates.open(next)
  await awaitRuns(engine, () => gates.started.includes(sleeper))
  gates.open(sleeper)
  await awaitRuns(engine, haveStatus({ completed: 2 }))
})

test('lets the next one in when a run is canceled, at work or in line', async () => {
  const engine = createTestEngine()
  const gates = createGates(engine)
  const workflow = defineWorkflow({
    id: 'one',
    on: '*',
    concurrency: { limit: 1 },
    run: ({ run, step }) => step.run('work', () => gates.work(run.id)),
  })
  const worker = await engine.start([workflow])
  const [first = '', second = '', third = ''] = await sendEvents(engine, workflow, [{}, {}, {}], [worker])
  await awaitRuns(engine, () => gates.started.length === 1)
  await awaitRuns(engine, haveStatus({ running: 1, waiting: 2 }))
  await engine.store.cancelRun(second, 'by hand', NOW)
  await engine.store.cancelRun(first, 'by hand', NOW)
  expect(await engine.store.findRun(third)).toMatchObject({ status: 'pending' })
  worker.endPass(first)
  await awaitRuns(engine, () => gates.started.includes(third))
  gates.open(third)
  await awaitRuns(engine, haveStatus({ canceled: 2, completed: 1 }))
  expect(gates.started).toEqual([first, third])
})

test('runs those with the higher priority first, also one that comes last', async () => {
  const engine = createTestEngine()
  const order: unknown[] = []
  const workflow = defineWorkflow({
    id: 'ranked',
    on: 'file.created',
    priority: (event) => Number(event.data.rank),
    run: ({ event }) => {
      order.push(event.data.rank)
    },
  })
  await sendEvents(
    engine,
    workflow,
    [1, -5, 0, 100, 7].map((rank) => ({ rank })),
    [],
  )
  await engine.start([workflow], { slots: 1 })
  await awaitRuns(engine, haveStatus({ completed: 5 }))
  expect(order).toEqual([100, 7, 1, 0, -5])
})

test('puts those with the higher priority first in line', async () => {
  const engine = createTestEngine()
  const order: unknown[] = []
  const gates = createGates(engine)
  const workflow = defineWorkflow({
    id: 'ranked-line',
    on: 'file.created',
    concurrency: { limit: 1 },
    priority: (event) => Number(event.data.rank),
    run: async ({ event, run, step }) => {
      order.push(event.data.rank)
      if (order.length === 1) await step.run('work', () => gates.work(run.id))
    },
  })
  const worker = await engine.start([workflow])
  const [first = ''] = await sendEvents(engine, workflow, [{ rank: 0 }], [worker])
  await awaitRuns(engine, () => gates.started.length === 1)
  await sendEvents(
    engine,
    workflow,
    [1, 3, 2].map((rank) => ({ rank })),
    [worker],
  )
  await awaitRuns(engine, haveStatus({ running: 1, waiting: 3 }))
  gates.open(first)
  await awaitRuns(engine, haveStatus({ completed: 4 }))
  expect(order).toEqual([0, 3, 2, 1])
})

test('a fixed priority needs no look at the run', async () => {
  const engine = createTestEngine()
  const order: string[] = []
  const run = (name: string) => () => {
    order.push(name)
  }
  const low = defineWorkflow({ id: 'low', on: '*', priority: -1, run: run('low') })
  const high = defineWorkflow({ id: 'high', on: '*', priority: 10, run: run('high') })
  await sendEvents(engine, low, [{}], [])
  await sendEvents(engine, high, [{}], [])
  await engine.start([low, high], { slots: 1 })
  await awaitRuns(engine, haveStatus({ completed: 2 }))
  expect(order).toEqual(['high', 'low'])
  expect(engine.heard.filter((notice) => notice.kind === 'run.ready')).toEqual([])
})

test('looks at limited runs while no slot is free', async () => {
  const engine = createTestEngine()
  const gates = createGates(engine)
  const workflow = defineWorkflow({
    id: 'replacing',
    on: '*',
    singleton: { onConflict: 'cancel' },
    run: ({ run, step }) => step.run('work', () => gates.work(run.id)),
  })
  const worker = await engine.start([workflow], { slots: 1, admitsAhead: () => true })
  const [old = ''] = await sendEvents(engine, workflow, [{}], [worker])
  await awaitRuns(engine, () => gates.started.length === 1)
  const [young = ''] = await sendEvents(engine, workflow, [{}], [worker])
  await awaitRuns(engine, () => gates.started.includes(young))
  expect(await engine.store.findRun(old)).toMatchObject({
    status: 'canceled',
    reason: `singleton: replaced by ${young}`,
  })
  gates.open(young)
  await awaitRuns(engine, haveStatus({ canceled: 1, completed: 1 }))
})

test('parks a run whose key throws, or gives no text, for a person, and has not started it', async () => {
  const engine = createTestEngine()
  const keys = {
    throws: () => {
      throw new Error('no folder')
    },
    silent: () => undefined as never,
    late: (async () => 'a') as never,
  }
  const run = () => 'ran'
  await engine.start(
    Object.entries(keys).map(([id, key]) => defineWorkflow({ id, on: '*', concurrency: { limit: 1, key }, run })),
  )
  const why = async (id: string) => engine.run(id, `evt_${id}`)
  const forPerson = { status: 'waiting', dueAt: null, isInLine: false, startedAt: null }
  expect(await why('throws')).toMatchObject({ ...forPerson, reason: 'the key of `concurrency` threw: no folder' })
  expect(await why('silent')).toMatchObject({ ...forPerson, reason: expect.stringContaining('returned undefined') })
  expect(await why('late')).toMatchObject({ ...forPerson, reason: expect.stringContaining('returned a promise') })
})

test('a run whose filter throws has not started', async () => {
  const engine = createTestEngine()
  const where = () => {
    throw new Error('broken')
  }
  await engine.start([defineWorkflow({ id: 'filtered', on: '*', where, run: () => 1 })])
  expect(await engine.run('filtered')).toMatchObject({ status: 'waiting', startedAt: null, reason: 'broken' })
})

test.each([101, 1.5, Number.NaN, '1'])('parks a run whose priority is %j', async (priority) => {
  const engine = createTestEngine()
  await engine.start([defineWorkflow({ id: 'odd', on: '*', priority: () => priority as number, run: () => 'ran' })])
  expect(await engine.run('odd')).toMatchObject({
    status: 'waiting',
    dueAt: null,
    reason: expect.stringContaining('`priority` returned'),
  })
})

test('starts no more runs within a throttle’s time than it lets in, and starts all of them in the end', async () => {
  const engine = createTestEngine()
  const starts: number[] = []
  const workflow = defineWorkflow({
    id: 'throttled',
    on: '*',
    throttle: { limit: 2, per: '1m' },
    run: () => {
      starts.push((engine.clock.now() - NOW) / 1_000)
    },
  })
  const worker = await engine.start([workflow])
  await sendEvents(engine, workflow, Array(5).fill({}), [worker])
  const runs = await awaitRuns(engine, haveStatus({ completed: 2, waiting: 3 }))
  expect(runs[2]).toMatchObject({
    dueAt: NOW + 60_000,
    isInLine: true,
    reason: 'throttle: 2 of 2 runs started within 1m, next start at 2026-06-01T12:01:00.000Z',
  })
  // Only the first in line has a moment: the others are not woken for nothing.
  expect(runs.slice(3).map((run) => run.dueAt)).toEqual([null, null])
  engine.clock.advance('30s')
  engine.clock.advance('30s')
  await awaitRuns(engine, haveStatus({ completed: 4, waiting: 1 }))
  engine.clock.advance('1m')
  await awaitRuns(engine, haveStatus({ completed: 5 }))
  expect(starts).toEqual([0, 0, 60, 60, 120])
})

test('a throttle per key keeps no other key waiting, nor a slot', async () => {
  const engine = createTestEngine()
  const seen: unknown[] = []
  const workflow = defineWorkflow({
    id: 'throttled-keys',
    on: 'file.created',
    throttle: { limit: 1, per: '1h', key: folderOf },
    concurrency: { limit: 1 },
    run: ({ event }) => {
      seen.push(event.data.folder)
    },
  })
  const worker = await engine.start([workflow])
  await sendEvents(
    engine,
    workflow,
    ['hot', 'hot', 'hot', 'cold'].map((folder) => ({ folder })),
    [worker],
  )
  await awaitRuns(engine, haveStatus({ completed: 2, waiting: 2 }))
  expect(seen).toEqual(['hot', 'cold'])
})

test('a clock that is set back closes a throttle for no longer than its own time', async () => {
  const engine = createTestEngine()
  const workflow = defineWorkflow({ id: 'back', on: '*', throttle: { limit: 1, per: '1m' }, run: () => 1 })
  const worker = await engine.start([workflow])
  await sendEvents(engine, workflow, [{}], [worker])
  await awaitRuns(engine, haveStatus({ completed: 1 }))
  engine.clock.set(NOW - 86_400_000)
  await sendEvents(engine, workflow, [{}], [worker])
  await awaitRuns(engine, haveStatus({ completed: 1, waiting: 1 }))
  engine.clock.advance('1m')
  await awaitRuns(engine, haveStatus({ completed: 2 }))
})

test('takes a limit that was raised for those in line, too', async () => {
  const engine = createTestEngine()
  const gates = createGates(engine)
  const define = (limit: number) =>
    defineWorkflow({
      id: 'growing',
      on: '*',
      concurrency: { limit },
      run: ({ run, step }) => step.run('work', () => gates.work(run.id)),
    })
  const workflows = [define(1)]
  const worker = await engine.start(workflows)
  await sendEvents(engine, define(1), Array(4).fill({}), [worker])
  await awaitRuns(engine, haveStatus({ running: 1, waiting: 3 }))
  workflows[0] = define(3)
  await sendEvents(engine, define(3), [{}], [worker])
  await awaitRuns(engine, () => gates.started.length === 3)
  await awaitRuns(engine, haveStatus({ running: 3, waiting: 2 }))
  gates.stayOpen()
  await awaitRuns(engine, haveStatus({ completed: 5 }))
})

test('a workflow without limits asks the store for nothing more', async () => {
  const engine = createTestEngine()
  const store = { ...engine.store, admitRun: () => Promise.reject(new Error('asked')) }
  await engine.start([defineWorkflow({ id: 'plain', on: '*', priority: 3, run: () => 1 })], { store })
  await queueRun(engine.store, 'evt_0', 'plain')
  expect(await engine.run('plain')).toMatchObject({ status: 'completed' })
})
