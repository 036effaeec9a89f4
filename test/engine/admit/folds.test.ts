import { expect, test } from 'vitest'
import { z } from 'zod'
import { defineEvent } from '../../../src/author/define-event.ts'
import { defineWorkflow } from '../../../src/author/define-workflow.ts'
import type { ServiceEvent } from '../../../src/core/incoming/event.ts'
import { awaitRuns, haveStatus } from '../../support/await-runs.ts'
import { incoming, NOW } from '../../support/fixtures.ts'
import { createGates, sendEvents } from '../../support/limited-runs.ts'
import { createTestEngine } from '../../support/test-engine.ts'

const folderOf = (event: ServiceEvent) => String(event.data.folder)
const numbers = (count: number, folder = 'a') => Array.from({ length: count }, (_, n) => ({ n, folder }))

test('gathers events into one run, which starts when it has enough of them', async () => {
  const engine = createTestEngine()
  const seen: unknown[][] = []
  const workflow = defineWorkflow({
    id: 'digest',
    on: 'file.created',
    batch: { size: 3, wait: '30s', key: folderOf },
    run: async ({ events, step }) => {
      seen.push(events.map((event) => event.data.n))
      await step.sleep('nap', '1m')
      return events.map((event) => event.data.n)
    },
  })
  const worker = await engine.start([workflow])
  const [leader = '', second = '', third = ''] = await sendEvents(engine, workflow, numbers(3), [worker])
  const runs = await awaitRuns(engine, (all) => all[0]?.reason?.startsWith('sleeps') === true)
  expect(runs).toMatchObject([
    { id: leader, folded: 2, foldedInto: null, startedAt: NOW },
    { id: second, status: 'skipped', reason: `folded into ${leader}`, foldedInto: leader, startedAt: null },
    { id: third, status: 'skipped', foldedInto: leader },
  ])
  engine.clock.advance('1m')
  const [done] = await awaitRuns(engine, haveStatus({ completed: 1, skipped: 2 }))
  expect(done?.output).toBe('[0,1,2]')
  expect(seen).toEqual([
    [0, 1, 2],
    [0, 1, 2],
  ])
})

test('starts a batch that is not full after its wait, each key by itself', async () => {
  const engine = createTestEngine()
  const seen: unknown[][] = []
  const workflow = defineWorkflow({
    id: 'digest',
    on: 'file.created',
    batch: { size: 200, wait: '30s', key: folderOf },
    run: ({ events }) => {
      seen.push(events.map((event) => `${event.data.folder}${event.data.n}`))
    },
  })
  const worker = await engine.start([workflow])
  await sendEvents(engine, workflow, [...numbers(2), ...numbers(1, 'b')], [worker])
  const [leader] = await awaitRuns(engine, haveStatus({ waiting: 2, skipped: 1 }))
  expect(leader).toMatchObject({
    dueAt: NOW + 30_000,
    isInLine: true,
    reason: 'batch: 2 of 200, until 2026-06-01T12:00:30.000Z',
  })
  engine.clock.advance('20s')
  await sendEvents(engine, workflow, [{ n: 2, folder: 'a' }], [worker])
  await awaitRuns(engine, haveStatus({ waiting: 2, skipped: 2 }))
  expect(seen).toEqual([])
  engine.clock.advance('10s')
  await awaitRuns(engine, haveStatus({ completed: 2, skipped: 2 }))
  expect(seen.toSorted()).toEqual([['a0', 'a1', 'a2'], ['b0']])
})

test('events that `where` refuses are in no batch, and one of another shape waits for a person by itself', async () => {
  const engine = createTestEngine()
  const created = defineEvent('file.created', { data: z.looseObject({ n: z.number() }) })
  const workflow = defineWorkflow({
    id: 'picky',
    on: created,
    where: (event) => event.data.n !== 1,
    batch: { size: 2, wait: '30s' },
    run: ({ events }) => events.map((event) => event.data.n),
  })
  const worker = await engine.start([workflow])
  await sendEvents(engine, workflow, [{ n: 0 }, { n: 1 }, { n: 'x' }, { n: 3 }], [worker])
  const runs = await awaitRuns(engine, haveStatus({ completed: 1, skipped: 2, waiting: 1 }))
  expect(runs[0]?.output).toBe('[0,3]')
  expect(runs[2]).toMatchObject({ status: 'waiting', dueAt: null, isInLine: false })
})

test('a batch of accounts is one for each, since a run works for one account', async () => {
  const engine = createTestEngine()
  const workflow = defineWorkflow({
    id: 'digest',
    on: 'file.created',
    batch: { size: 2, wait: '30s' },
    run: ({ events }) => events.length,
  })
  await engine.start([workflow])
  for (const account of ['one', 'two']) {
    await engine.store.saveDelivery(incoming(`evt_${account}`, { account, workflows: ['digest'] }))
  }
  engine.clock.advance('1s')
  await awaitRuns(engine, haveStatus({ waiting: 2 }))
})

test('never hands the events of a batch to code that takes one only', async () => {
  const engine = createTestEngine()
  const batch = defineWorkflow({ id: 'changed', on: '*', batch: { size: 9, wait: '30s' }, run: () => 1 })
  const single = defineWorkflow({ id: 'changed', on: '*', run: () => 1 })
  const workflows: Parameters<typeof engine.start>[0] = [batch]
  const worker = await engine.start(workflows)
  await sendEvents(engine, batch, numbers(3), [worker])
  await awaitRuns(engine, haveStatus({ waiting: 1, skipped: 2 }))
  workflows[0] = single
  engine.clock.advance('30s')
  const [leader] = await awaitRuns(engine, (runs) => runs[0]?.dueAt === null)
  expect(leader).toMatchObject({ status: 'waiting', isInLine: false, reason: expect.stringContaining('2 other runs') })
})

test('one run for events in quick succession: the newest event, and how many came before', async () => {
  const engine = createTestEngine()
  const seen: unknown[] = []
  const workflow = defineWorkflow({
    id: 'reindex',
    on: 'file.created',
    debounce: { wait: '10s', key: folderOf },
    run: ({ event, folded }) => {
      seen.push([event.data.n, folded])
    },
  })
  const worker = await engine.start([workflow])
  const runs: string[] = []
  for (const n of [0, 1, 2]) {
    runs.push(...(await sendEvents(engine, workflow, [{ n, folder: 'a' }], [worker])))
    await awaitRuns(engine, haveStatus({ waiting: 1, skipped: n }))
    engine.clock.advance('9s')
  }
  const waiting = await engine.store.findRun(runs[2] ?? '')
  expect(waiting).toMatchObject({ folded: 2, reason: 'debounce: 3 events, until 2026-06-01T12:00:28.000Z' })
  expect(await engine.store.findRun(runs[0] ?? '')).toMatchObject({ status: 'skipped', foldedInto: runs[1] })
  engine.clock.advance('1s')
  await awaitRuns(engine, haveStatus({ completed: 1, skipped: 2 }))
  expect(seen).toEqual([[2, 2]])
  expect(await engine.store.listRunEvents(runs[2] ?? '')).toHaveLength(3)
})

test('a debounce is not put off for longer than its `max`', async () => {
  const engine = createTestEngine()
  const workflow = defineWorkflow({
    id: 'reindex',
    on: 'file.created',
    debounce: { wait: '10s', max: '15s' },
    run: ({ event, folded }) => [event.data.n, folded],
  })
  const worker = await engine.start([workflow])
  await sendEvents(engine, workflow, [{ n: 0 }], [worker])
  await awaitRuns(engine, haveStatus({ waiting: 1 }))
  engine.clock.advance('9s')
  await sendEvents(engine, workflow, [{ n: 1 }], [worker])
  const runs = await awaitRuns(engine, haveStatus({ waiting: 1, skipped: 1 }))
  expect(runs[1]?.dueAt).toBe(NOW + 15_000)
  engine.clock.advance('6s')
  const done = await awaitRuns(engine, haveStatus({ completed: 1, skipped: 1 }))
  expect(done[1]?.output).toBe('[1,1]')
})

test('a singleton skips a new run and names the one at work, per key', async () => {
  const engine = createTestEngine()
  const gates = createGates(engine)
  const workflow = defineWorkflow({
    id: 'single',
    on: 'file.created',
    singleton: { key: folderOf },
    run: ({ run, step }) => step.run('work', () => gates.work(run.id)),
  })
  const worker = await engine.start([workflow])
  const [first = '', second = '', other = ''] = await sendEvents(
    engine,
    workflow,
    ['a', 'a', 'b'].map((folder) => ({ folder })),
    [worker],
  )
  await awaitRuns(engine, () => gates.started.length === 2)
  const runs = await awaitRuns(engine, haveStatus({ running: 2, skipped: 1 }))
  expect(runs[1]).toMatchObject({ id: second, reason: `singleton: ${first} is unfinished`, foldedInto: null })
  expect(gates.started).toEqual([first, other])
  gates.openAll()
  await awaitRuns(engine, haveStatus({ completed: 2, skipped: 1 }))
  const [next = ''] = await sendEvents(engine, workflow, [{ folder: 'a' }], [worker])
  await awaitRuns(engine, () => gates.started.includes(next))
  gates.openAll()
  await awaitRuns(engine, haveStatus({ completed: 3, skipped: 1 }))
})

test('a singleton counts a run that sleeps as unfinished, and lets others wait with `queue`', async () => {
  const engine = createTestEngine()
  const order: string[] = []
  const workflow = defineWorkflow({
    id: 'queued',
    on: 'file.created',
    singleton: { onConflict: 'queue' },
    run: async ({ run, step }) => {
      await step.run('begin', () => {
        order.push(run.id)
      })
      await step.sleep('nap', '1m')
    },
  })
  const worker = await engine.start([workflow])
  const ids = await sendEvents(engine, workflow, numbers(2), [worker])
  const runs = await awaitRuns(engine, (all) => all.every((run) => run.status === 'waiting'))
  expect(runs.map((run) => run.isInLine)).toEqual([false, true])
  expect(runs[1]?.reason).toBe('singleton: another run is unfinished')
  engine.clock.advance('1m')
  await awaitRuns(engine, (all) => all[1]?.reason?.startsWith('sleeps') === true)
  engine.clock.advance('1m')
  await awaitRuns(engine, haveStatus({ completed: 2 }))
  expect(order).toEqual(ids)
})

test('cancels a run that has not started in time, also one in line', async () => {
  const engine = createTestEngine()
  const gates = createGates(engine)
  const workflow = defineWorkflow({
    id: 'impatient',
    on: '*',
    concurrency: { limit: 1 },
    timeout: { start: '1h', step: '1d' },
    run: ({ run, step }) => step.run('work', () => gates.work(run.id)),
  })
  const worker = await engine.start([workflow])
  const [first = '', second = ''] = await sendEvents(engine, workflow, [{}, {}], [worker])
  await awaitRuns(engine, haveStatus({ running: 1, waiting: 1 }))
  await awaitRuns(engine, () => gates.started.length === 1)
  expect(await engine.store.findRun(second)).toMatchObject({ dueAt: NOW + 3_600_000 })
  engine.clock.advance('1h')
  const runs = await awaitRuns(engine, haveStatus({ running: 1, canceled: 1 }))
  expect(runs[1]).toMatchObject({
    reason: 'timeout: it had not started by 2026-06-01T13:00:00.000Z',
    startedAt: null,
  })
  expect(engine.heard).toContainEqual(expect.objectContaining({ kind: 'run.canceled', run: second }))
  gates.open(first)
  await awaitRuns(engine, haveStatus({ completed: 1, canceled: 1 }))
})

test('fails a run whose time is over, and tells its code', async () => {
  const engine = createTestEngine()
  const started = Promise.withResolvers<AbortSignal>()
  const workflow = defineWorkflow({
    id: 'endless',
    on: '*',
    timeout: { run: '1h', step: '1d' },
    run: ({ step, signal }) =>
      step.run('hang', () => {
        started.resolve(signal)
        return new Promise(() => {})
      }),
  })
  const worker = await engine.start([workflow])
  await sendEvents(engine, workflow, [{}], [worker])
  const signal = await started.promise
  engine.clock.advance('1h')
  const [run] = await awaitRuns(engine, haveStatus({ failed: 1 }))
  expect(run?.error).toMatchObject({ code: 'run_timeout', message: expect.stringContaining('13:00:00') })
  expect(signal.aborted).toBe(true)
})

test('counts sleeps into the time of a run, and wakes it at the end of that time', async () => {
  const engine = createTestEngine()
  const workflow = defineWorkflow({
    id: 'sleeper',
    on: '*',
    timeout: { run: '1h' },
    run: ({ step }) => step.sleep('long', '1d'),
  })
  await engine.start([workflow])
  const run = await engine.run('sleeper')
  expect(run).toMatchObject({ status: 'waiting', dueAt: NOW + 3_600_000 })
  expect(await engine.advance(run.id, '1h')).toMatchObject({ status: 'failed', error: { code: 'run_timeout' } })
})

test('the time of a run begins when it starts, not while it waits for its turn or its module', async () => {
  const engine = createTestEngine()
  const gates = createGates(engine)
  const workflow = defineWorkflow({
    id: 'patient',
    on: '*',
    concurrency: { limit: 1 },
    timeout: { run: '1h', step: '1d' },
    run: ({ run, step, now }) => step.run('work', () => gates.work(run.id)).then(now),
  })
  const workflows: (typeof workflow)[] = []
  const worker = await engine.start(workflows)
  const [first = '', second = ''] = await sendEvents(engine, workflow, [{}, {}], [worker])
  const parked = await awaitRuns(engine, haveStatus({ waiting: 2 }))
  expect(parked.map((run) => run.startedAt)).toEqual([null, null])
  workflows.push(workflow)
  engine.clock.advance('10m')
  await awaitRuns(engine, () => gates.started.includes(first))
  await awaitRuns(engine, haveStatus({ running: 1, waiting: 1 }))
  engine.clock.advance('50m')
  gates.open(first)
  await awaitRuns(engine, () => gates.started.includes(second))
  engine.clock.advance('50m')
  gates.open(second)
  const runs = await awaitRuns(engine, haveStatus({ completed: 2 }))
  expect(runs.map((run) => run.startedAt)).toEqual([NOW + 600_000, NOW + 3_600_000])
})

test('what follows the failure of a batch gets its events, and is held up by no limit', async () => {
  const engine = createTestEngine()
  const told: unknown[] = []
  const workflow = defineWorkflow({
    id: 'failing',
    on: 'file.created',
    batch: { size: 2, wait: '30s' },
    throttle: { limit: 1, per: '1h' },
    retry: { attempts: 1 },
    run: () => {
      throw new Error('no')
    },
    onFailure: ({ events, error }) => {
      told.push([events.map((event) => event.data.n), error.message])
    },
  })
  const worker = await engine.start([workflow])
  await sendEvents(engine, workflow, numbers(2), [worker])
  await awaitRuns(engine, haveStatus({ failed: 1, skipped: 1, completed: 1 }))
  expect(told).toEqual([[[0, 1], 'no']])
})
