import { expect } from 'vitest'
import { z } from 'zod'
import { cron } from '../../../src/author/cron.ts'
import { defineEvent } from '../../../src/author/define-event.ts'
import { defineWorkflow } from '../../../src/author/define-workflow.ts'
import type { AnyWorkflow } from '../../../src/author/workflow.ts'
import { NOW } from '../../support/fixtures.ts'
import { test } from '../../support/test-engine.ts'
import { define } from '../../support/workflows.ts'

test('P16: an event that does not fit its definition parks the run and names the field', async ({ engine }) => {
  const created = defineEvent('file.created', { data: z.looseObject({ file: z.looseObject({ size: z.number() }) }) })
  await engine.start([defineWorkflow({ id: 'strict', on: created, run: ({ event }) => event.data.file.size })])
  const run = await engine.run('strict')
  expect(run).toMatchObject({ status: 'waiting', dueAt: null, reason: expect.stringContaining('data.file.size') })
})

test('code that fails outside a step is retried, and fails after its last attempt', async ({ engine }) => {
  await engine.serve('outside', { retry: { attempts: 2, min: '10s' } }, () => {
    throw new Error('a bug')
  })
  const first = await engine.run('outside')
  expect(first).toMatchObject({ status: 'waiting', attempt: 1, error: { message: 'a bug' } })
  expect(await engine.advance(first.id, '5s')).toMatchObject({ status: 'failed', error: { message: 'a bug' } })
})

test('a run without its module is parked and goes on when the module is back', async ({ engine }) => {
  const workflows = [define('other', () => 1)]
  await engine.start(workflows)
  const parked = await engine.run('gone')
  expect(parked).toMatchObject({ status: 'waiting', reason: expect.stringContaining('"gone"') })
  workflows.push(define('gone', () => 2))
  expect(await engine.advance(parked.id, '1m')).toMatchObject({ status: 'completed', output: '2' })
})

test('a run waits for code whose `on` names the type of its event', async ({ engine }) => {
  const narrowed = defineWorkflow({ id: 'narrowed', on: 'file.deleted', run: () => 'a file is gone' })
  const workflows: AnyWorkflow[] = [narrowed]
  await engine.start(workflows)
  const parked = await engine.run('narrowed')
  const reason = 'no module defines the workflow "narrowed" for file.created'
  expect(parked).toMatchObject({ status: 'waiting', startedAt: null, reason })
  workflows[0] = defineWorkflow({ id: 'narrowed', on: 'file.*', run: ({ event }) => event.type })
  expect(await engine.advance(parked.id, '1m')).toMatchObject({ status: 'completed', output: '"file.created"' })
})

test('runs that wait for code that does not come back are told once for each cause, after ten minutes', async ({
  engine,
}) => {
  const workflows: AnyWorkflow[] = [defineWorkflow({ id: 'narrowed', on: 'file.deleted', run: () => 1 })]
  await engine.start(workflows)
  const told = () => engine.heard.filter(({ kind }) => kind === 'workflow.missing')
  const parked = await engine.run('narrowed')
  await engine.advance(parked.id, '9m')
  expect(told()).toEqual([])
  await engine.advance(parked.id, '1m')
  await engine.advance(parked.id, '1m')
  expect(told()).toEqual([{ kind: 'workflow.missing', workflow: 'narrowed', cause: 'file.created' }])
  workflows[0] = defineWorkflow({ id: 'narrowed', on: 'file.*', run: () => 2 })
  expect(await engine.advance(parked.id, '1m')).toMatchObject({ status: 'completed' })
})

test('a run waits for code whose `on` is of the kind of its cause', async ({ engine }) => {
  const onEvents = define('changed', () => 'an event')
  const onCron = defineWorkflow({ id: 'changed', on: cron('0 3 * * *'), run: ({ tick }) => tick.missed })
  const workflows: AnyWorkflow[] = [onEvents]
  await engine.start(workflows)
  const tick = await engine.store.recordTick('changed', { scheduledFor: NOW, missed: 2 }, NOW)
  const parked = await engine.passOf(tick ?? '')
  expect(parked).toMatchObject({
    status: 'waiting',
    reason: 'no module defines the workflow "changed" for a cron line',
  })
  workflows[0] = onCron
  expect(await engine.advance(parked.id, '1m')).toMatchObject({ status: 'completed', output: '2' })
  const start = { run: 'run_call', workflow: 'changed', input: '{}', account: 'default', createdAt: NOW }
  await engine.store.startRun(start)
  const reason = 'no module defines the workflow "changed" for an input'
  expect(await engine.passOf('run_call')).toMatchObject({ status: 'waiting', reason })
})
