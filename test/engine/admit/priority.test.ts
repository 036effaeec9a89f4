import { expect } from 'vitest'
import { cron, type Tick } from '../../../src/author/cron.ts'
import { defineWorkflow } from '../../../src/author/define-workflow.ts'
import { planFirstPriority, scheduleOf } from '../../../src/author/read-workflow.ts'
import { awaitRuns, haveStatus } from '../../support/await-runs.ts'
import { NOW } from '../../support/fixtures.ts'
import { createTestEngine, test } from '../../support/test-engine.ts'

test.each([101, 1.5, Number.NaN, '1'])('a priority of %j parks the run for a person', async (priority) => {
  const engine = createTestEngine()
  await engine.serve('odd', { priority: () => priority as number }, () => 'ran')
  expect(await engine.run('odd')).toMatchObject({
    status: 'waiting',
    dueAt: null,
    reason: expect.stringContaining('`priority` returned'),
  })
})

test('ticks take the priority of their workflow, which may be a function of the tick', async ({ engine }) => {
  const order: string[] = []
  const seen: Tick[] = []
  const note = (name: string) => () => void order.push(name)
  const on = cron('0 3 * * *')
  const workflows = [
    defineWorkflow({ id: 'low', on, priority: -1, run: note('low') }),
    defineWorkflow({ id: 'plain', on, run: note('plain') }),
    defineWorkflow({ id: 'high', on, priority: 50, run: note('high') }),
    defineWorkflow({
      id: 'highest',
      on,
      priority: (tick) => {
        seen.push(tick)
        return 100
      },
      run: note('highest'),
    }),
  ]
  const records = workflows.map((workflow) => ({
    id: workflow.id,
    file: `${workflow.id}.workflow.ts`,
    eventTypes: [],
    schedule: scheduleOf(workflow),
    priority: planFirstPriority(workflow),
  }))
  await engine.store.saveWorkflows({ workflows: records, broken: [] }, NOW)
  for (const { id } of workflows) await engine.store.recordTick(id, { scheduledFor: NOW, missed: 2 }, NOW)
  await engine.start(workflows, { slots: 1 })
  await awaitRuns(engine, haveStatus({ completed: 4 }))
  expect(order).toEqual(['highest', 'high', 'plain', 'low'])
  expect(seen[0]).toEqual({ scheduledFor: new Date(NOW), lastRunAt: null, missed: 2 })
})
