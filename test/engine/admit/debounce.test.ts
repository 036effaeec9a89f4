import { expect } from 'vitest'
import { defineWorkflow } from '../../../src/author/define-workflow.ts'
import type { ServiceEvent } from '../../../src/core/incoming/event.ts'
import { awaitRuns, haveStatus } from '../../support/await-runs.ts'
import { NOW } from '../../support/fixtures.ts'
import { sendEvents } from '../../support/send-events.ts'
import { test } from '../../support/test-engine.ts'

const folderOf = (event: ServiceEvent) => String(event.data.folder)

test('debounced events start one run with the newest event and the number folded into it', async ({ engine }) => {
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
