import { expect, test } from 'vitest'
import { defineWorkflow } from '../../../src/author/define-workflow.ts'
import { NOW } from '../../support/fixtures.ts'
import { createTestEngine } from '../../support/test-engine.ts'
import { openTestStore } from '../../support/test-store.ts'
import { hang } from '../../support/workflows.ts'

test('a pass whose run another process canceled is aborted when its lease is checked', async () => {
  const engine = createTestEngine()
  const { workflow, started } = hang('hang')
  const latch = Promise.withResolvers<void>()
  const worker = await engine.start([
    workflow,
    defineWorkflow({ id: 'other', on: '*', run: ({ step }) => step.run('wait', () => latch.promise) }),
  ])
  const hanging = engine.run('hang')
  const unharmed = engine.run('other', 'evt_2')
  const signal = await started
  await worker.checkLeases()
  expect(signal.aborted).toBe(false)
  const other = openTestStore(engine.folder)
  const [run] = await other.listRuns({ limit: 1, workflow: 'hang' })
  await other.cancelRun(run?.id ?? '', 'by hand', NOW)
  await worker.checkLeases()
  expect(signal.aborted).toBe(true)
  expect(await hanging).toMatchObject({ status: 'canceled' })
  latch.resolve()
  expect(await unharmed).toMatchObject({ status: 'completed' })
})

test('each heartbeat checks for canceled runs', async () => {
  const engine = createTestEngine()
  const { workflow, started } = hang('hang')
  await engine.start([workflow])
  const ended = engine.run('hang')
  await started
  const [run] = await engine.store.listRuns({ limit: 1 })
  await openTestStore(engine.folder).cancelRun(run?.id ?? '', 'by hand', NOW)
  engine.clock.advance('5s')
  expect(await ended).toMatchObject({ status: 'canceled' })
})
