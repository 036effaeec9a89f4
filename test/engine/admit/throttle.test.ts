import { awaitRuns, haveStatus } from '../../support/await-runs.ts'
import { NOW } from '../../support/fixtures.ts'
import { sendEvents } from '../../support/send-events.ts'
import { test } from '../../support/test-engine.ts'
import { define } from '../../support/workflows.ts'

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
