import { expect } from 'vitest'
import { awaitRuns, haveStatus } from '../../support/await-runs.ts'
import { sendEvents } from '../../support/send-events.ts'
import { test } from '../../support/test-engine.ts'
import { define } from '../../support/workflows.ts'

const numbers = (count: number, folder = 'a') => Array.from({ length: count }, (_, n) => ({ n, folder }))

test('a singleton counts a sleeping run as unfinished, and `queue` puts others in line', async ({ engine }) => {
  const order: string[] = []
  const workflow = define(
    'queued',
    { on: 'file.created', singleton: { onConflict: 'queue' } },
    async ({ run, step }) => {
      await step.run('begin', () => {
        order.push(run.id)
      })
      await step.sleep('nap', '1m')
    },
  )
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
