import { expect } from 'vitest'
import type { ServiceEvent } from '../../../src/core/incoming/event.ts'
import { awaitRuns, haveStatus } from '../../support/await-runs.ts'
import { createLatches } from '../../support/create-latches.ts'
import { sendEvents } from '../../support/send-events.ts'
import { test } from '../../support/test-engine.ts'
import { define } from '../../support/workflows.ts'

const folderOf = (event: ServiceEvent) => String(event.data.folder)

const numbers = (count: number, folder = 'a') => Array.from({ length: count }, (_, n) => ({ n, folder }))

test('a singleton skips a new run of its key and names the run at work', async ({ engine }) => {
  const latches = createLatches(engine)
  const workflow = define('single', { on: 'file.created', singleton: { key: folderOf } }, ({ run, step }) =>
    step.run('work', () => latches.work(run.id)),
  )
  const worker = await engine.start([workflow])
  const [first = '', second = '', other = ''] = await sendEvents(
    engine,
    workflow,
    ['a', 'a', 'b'].map((folder) => ({ folder })),
    [worker],
  )
  await awaitRuns(engine, () => latches.started.length === 2)
  const runs = await awaitRuns(engine, haveStatus({ running: 2, skipped: 1 }))
  expect(runs[1]).toMatchObject({ id: second, reason: `singleton: ${first} is unfinished`, foldedInto: null })
  expect(latches.started).toEqual([first, other])
  latches.openAll()
  await awaitRuns(engine, haveStatus({ completed: 2, skipped: 1 }))
  const [next = ''] = await sendEvents(engine, workflow, [{ folder: 'a' }], [worker])
  await awaitRuns(engine, () => latches.started.includes(next))
  latches.openAll()
  await awaitRuns(engine, haveStatus({ completed: 3, skipped: 1 }))
})

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
