import { expect } from 'vitest'
import { defineWorkflow } from '../../../src/author/define-workflow.ts'
import { awaitRuns, haveStatus } from '../../support/await-runs.ts'
import { NOW } from '../../support/fixtures.ts'
import { sendEvents } from '../../support/send-events.ts'
import { test } from '../../support/test-engine.ts'

test('a debounce is delayed by at most its `max`', async ({ engine }) => {
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
