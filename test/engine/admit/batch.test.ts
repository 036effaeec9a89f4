import { expect } from 'vitest'
import { z } from 'zod'
import { defineEvent } from '../../../src/author/define-event.ts'
import { defineWorkflow } from '../../../src/author/define-workflow.ts'
import { awaitRuns, haveStatus } from '../../support/await-runs.ts'
import { sendEvents } from '../../support/send-events.ts'
import { createTestEngine, test } from '../../support/test-engine.ts'
import { define } from '../../support/workflows.ts'

const numbers = (count: number, folder = 'a') => Array.from({ length: count }, (_, n) => ({ n, folder }))

test('events that `where` rejects join no batch, and one that does not fit waits for a person alone', async () => {
  const engine = createTestEngine()
  const created = defineEvent('file.created', { data: z.looseObject({ n: z.number() }) })
  const workflow = defineWorkflow({
    id: 'picky',
    on: created,
    where: (event) => event.data.n !== 1,
    batch: { size: 2, wait: '30s' },
    run: ({ events }) => events.map((event) => event.data.n),
  })
  const worker = await engine.start([workflow])
  await sendEvents(engine, workflow, [{ n: 0 }, { n: 1 }, { n: 'x' }, { n: 3 }], [worker])
  const runs = await awaitRuns(engine, haveStatus({ completed: 1, skipped: 2, waiting: 1 }))
  expect(runs[0]?.output).toBe('[0,3]')
  expect(runs[2]).toMatchObject({ status: 'waiting', dueAt: null, isInLine: false })
})

test.for([
  ['single events', define('changed', () => 1)],
  ['the newest event', defineWorkflow({ id: 'changed', on: '*', debounce: { wait: '30s' }, run: () => 1 })],
] as const)('code that takes %s never receives a batch: the run waits for a person', async ([, single], { engine }) => {
  const batch = defineWorkflow({ id: 'changed', on: '*', batch: { size: 9, wait: '30s' }, run: () => 1 })
  const workflows: Parameters<typeof engine.start>[0] = [batch]
  const worker = await engine.start(workflows)
  await sendEvents(engine, batch, numbers(3), [worker])
  await awaitRuns(engine, haveStatus({ waiting: 1, skipped: 2 }))
  workflows[0] = single
  engine.clock.advance('30s')
  const [leader] = await awaitRuns(engine, (runs) => runs[0]?.dueAt === null)
  expect(leader).toMatchObject({ status: 'waiting', isInLine: false, reason: expect.stringContaining('2 other runs') })
})
