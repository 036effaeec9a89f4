import { expect } from 'vitest'
import { awaitRuns, haveStatus } from '../../support/await-runs.ts'
import { createLatches } from '../../support/create-latches.ts'
import { NOW } from '../../support/fixtures.ts'
import { sendEvents } from '../../support/send-events.ts'
import { test } from '../../support/test-engine.ts'
import { define } from '../../support/workflows.ts'

test('a run that has not started by its `timeout.start` is canceled, even in line', async ({ engine }) => {
  const latches = createLatches(engine)
  const workflow = define(
    'impatient',
    { concurrency: { limit: 1 }, timeout: { start: '1h', step: '1d' } },
    ({ run, step }) => step.run('work', () => latches.work(run.id)),
  )
  const worker = await engine.start([workflow])
  const [first = '', second = ''] = await sendEvents(engine, workflow, [{}, {}], [worker])
  await awaitRuns(engine, haveStatus({ running: 1, waiting: 1 }))
  await awaitRuns(engine, () => latches.started.length === 1)
  expect(await engine.store.findRun(second)).toMatchObject({ dueAt: NOW + 3_600_000 })
  engine.clock.advance('1h')
  const runs = await awaitRuns(engine, haveStatus({ running: 1, canceled: 1 }))
  expect(runs[1]).toMatchObject({
    reason: 'timeout: it had not started by 2026-06-01T13:00:00.000Z',
    startedAt: null,
  })
  expect(engine.heard).toContainEqual(expect.objectContaining({ kind: 'run.canceled', run: second }))
  latches.open(first)
  await awaitRuns(engine, haveStatus({ completed: 1, canceled: 1 }))
})

test('sleeps count towards `timeout.run`, and the run wakes in time to fail', async ({ engine }) => {
  const workflow = define('sleeper', { timeout: { run: '1h' } }, ({ step }) => step.sleep('long', '1d'))
  await engine.start([workflow])
  const run = await engine.run('sleeper')
  expect(run).toMatchObject({ status: 'waiting', dueAt: NOW + 3_600_000 })
  expect(await engine.advance(run.id, '1h')).toMatchObject({ status: 'failed', error: { code: 'run_timeout' } })
})

test('the time of a run begins when it starts, not while it waits in line or for its module', async ({ engine }) => {
  const latches = createLatches(engine)
  const workflow = define(
    'patient',
    { concurrency: { limit: 1 }, timeout: { run: '1h', step: '1d' } },
    ({ run, step, now }) => step.run('work', () => latches.work(run.id)).then(now),
  )
  const workflows: (typeof workflow)[] = []
  const worker = await engine.start(workflows)
  const [first = '', second = ''] = await sendEvents(engine, workflow, [{}, {}], [worker])
  const parked = await awaitRuns(engine, haveStatus({ waiting: 2 }))
  expect(parked.map((run) => run.startedAt)).toEqual([null, null])
  workflows.push(workflow)
  engine.clock.advance('10m')
  await awaitRuns(engine, () => latches.started.includes(first))
  await awaitRuns(engine, haveStatus({ running: 1, waiting: 1 }))
  engine.clock.advance('50m')
  latches.open(first)
  await awaitRuns(engine, () => latches.started.includes(second))
  engine.clock.advance('50m')
  latches.open(second)
  const runs = await awaitRuns(engine, haveStatus({ completed: 2 }))
  expect(runs.map((run) => run.startedAt)).toEqual([NOW + 600_000, NOW + 3_600_000])
})
