import { expect } from 'vitest'
import { defineWorkflow } from '../../../src/author/define-workflow.ts'
import type { ServiceEvent } from '../../../src/core/incoming/event.ts'
import { awaitRuns, haveStatus } from '../../support/await-runs.ts'
import { createLatches } from '../../support/create-latches.ts'
import { sendEvents } from '../../support/send-events.ts'
import { createTestEngine, test } from '../../support/test-engine.ts'

const folderOf = (event: ServiceEvent) => String(event.data.folder)

test('a run with two concurrency limits needs a place in both, and a full key does not delay other keys', async () => {
  const engine = createTestEngine()
  const latches = createLatches(engine)
  const workflow = defineWorkflow({
    id: 'both',
    on: 'file.created',
    concurrency: [{ limit: 2 }, { limit: 1, key: folderOf }],
    run: ({ run, step }) => step.run('work', () => latches.work(run.id)),
  })
  const worker = await engine.start([workflow])
  const ids = await sendEvents(
    engine,
    workflow,
    ['a', 'a', 'b', 'c'].map((folder) => ({ folder })),
    [worker],
  )
  const [a1 = '', a2 = '', b = '', c = ''] = ids
  await awaitRuns(engine, () => latches.started.length === 2)
  const runs = await awaitRuns(engine, haveStatus({ running: 2, waiting: 2 }))
  expect(latches.started).toEqual([a1, b])
  expect(runs.map((run) => run.reason)).toEqual([
    null,
    'concurrency: 1 of 1 runs with key a are at work',
    null,
    'concurrency: 2 of 2 runs are at work',
  ])
  latches.open(b)
  await awaitRuns(engine, () => latches.started.includes(c))
  latches.open(a1)
  await awaitRuns(engine, () => latches.started.includes(a2))
  expect(latches.most).toBe(2)
  latches.stayOpen()
  await awaitRuns(engine, haveStatus({ completed: 4 }))
})

test('a raised concurrency limit also admits the runs that are in line already', async ({ engine }) => {
  const latches = createLatches(engine)
  const define = (limit: number) =>
    defineWorkflow({
      id: 'growing',
      on: '*',
      concurrency: { limit },
      run: ({ run, step }) => step.run('work', () => latches.work(run.id)),
    })
  const workflows = [define(1)]
  const worker = await engine.start(workflows)
  await sendEvents(engine, define(1), Array(4).fill({}), [worker])
  await awaitRuns(engine, haveStatus({ running: 1, waiting: 3 }))
  workflows[0] = define(3)
  await sendEvents(engine, define(3), [{}], [worker])
  await awaitRuns(engine, () => latches.started.length === 3)
  await awaitRuns(engine, haveStatus({ running: 3, waiting: 2 }))
  latches.stayOpen()
  await awaitRuns(engine, haveStatus({ completed: 5 }))
})

test('an overall limit counts the runs of before a limit per key was added', async ({ engine }) => {
  const latches = createLatches(engine)
  const define = (concurrency: { limit: number } | [{ limit: number; key: () => string }, { limit: number }]) =>
    defineWorkflow({
      id: 'limited',
      on: '*',
      concurrency,
      run: ({ run, step }) => step.run('work', () => latches.work(run.id)),
    })
  const workflows = [define({ limit: 1 })]
  const worker = await engine.start(workflows)
  await sendEvents(engine, define({ limit: 1 }), [{}], [worker])
  await awaitRuns(engine, () => latches.started.length === 1)
  workflows[0] = define([{ limit: 1, key: () => 'a' }, { limit: 1 }])
  await sendEvents(engine, workflows[0], [{}], [worker])
  const runs = await awaitRuns(engine, (each) => each.length === 2 && each[1]?.status !== 'pending')
  expect(runs[1]).toMatchObject({ status: 'waiting', reason: 'concurrency: 1 of 1 runs are at work' })
  latches.stayOpen()
  await awaitRuns(engine, haveStatus({ completed: 2 }))
})

test('a singleton replaces its run even while no slot is free', async ({ engine }) => {
  const latches = createLatches(engine)
  const workflow = defineWorkflow({
    id: 'replacing',
    on: '*',
    singleton: { onConflict: 'cancel' },
    run: ({ run, step }) => step.run('work', () => latches.work(run.id)),
  })
  const worker = await engine.start([workflow], { slots: 1, admitsAhead: () => true })
  const [old = ''] = await sendEvents(engine, workflow, [{}], [worker])
  await awaitRuns(engine, () => latches.started.length === 1)
  const [young = ''] = await sendEvents(engine, workflow, [{}], [worker])
  await awaitRuns(engine, () => latches.started.includes(young))
  expect(await engine.store.findRun(old)).toMatchObject({
    status: 'canceled',
    reason: `singleton: replaced by ${young}`,
  })
  latches.open(young)
  await awaitRuns(engine, haveStatus({ canceled: 1, completed: 1 }))
})
