import { expect } from 'vitest'
import { awaitRuns, haveStatus } from '../../support/await-runs.ts'
import { NOW } from '../../support/fixtures.ts'
import { sendEvents } from '../../support/send-events.ts'
import { test } from '../../support/test-engine.ts'
import { define } from '../../support/workflows.ts'

test('a throttle starts no more runs per period than its limit, and all of them in the end', async ({ engine }) => {
  const starts: number[] = []
  const workflow = define('throttled', { throttle: { limit: 2, per: '1m' } }, () => {
    starts.push((engine.clock.now() - NOW) / 1_000)
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

test('a clock that is set back closes a throttle for at most one period', async ({ engine }) => {
  const workflow = define('back', { throttle: { limit: 1, per: '1m' } }, () => 1)
  const worker = await engine.start([workflow])
  await sendEvents(engine, workflow, [{}], [worker])
  await awaitRuns(engine, haveStatus({ completed: 1 }))
  engine.clock.set(NOW - 86_400_000)
  await sendEvents(engine, workflow, [{}], [worker])
  await awaitRuns(engine, haveStatus({ completed: 1, waiting: 1 }))
  engine.clock.advance('1m')
  await awaitRuns(engine, haveStatus({ completed: 2 }))
})
