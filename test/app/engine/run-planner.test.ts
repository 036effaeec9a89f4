import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { handConfig } from '../../../src/app/engine/engine-config.ts'
import { RunPlanner } from '../../../src/app/engine/run-planner.ts'
import { settleEffects } from '../../../src/app/engine/start/settle-start.ts'
import { imagineRun } from '../../../src/app/preview/plan-event.ts'
import type { EventRecord } from '../../../src/core/incoming/event.ts'
import type { EffectsMode } from '../../../src/core/safety/stop.ts'
import { ManualClock } from '../../../src/core/time.ts'
import { claimNext } from '../../contract/support/claim-next.ts'
import { checkpoint, eventBody, NOW, queueRun } from '../../support/fixtures.ts'
import { BLOCK, DOOR } from '../../support/program.ts'
import { tempFolder } from '../../support/temp-folder.ts'
import { testConfig } from '../../support/test-config.ts'
import { openTestStore } from '../../support/test-store.ts'

/** A planner of one workflow, whose code blocks its process for the event `evt_bad`. */
async function openPlanner({
  effects = 'plan',
  ...parts
}: {
  patienceMs?: number
  longestMs?: number
  effects?: EffectsMode
} = {}) {
  const workflowsDir = tempFolder()
  const write = (output: string) =>
    writeFileSync(
      join(workflowsDir, 'tidy.workflow.js'),
      `import { defineWorkflow } from '${DOOR}'
export default defineWorkflow({ id: 'tidy', on: 'file.created', run: async ({ event, step }) => {
  if (event.id === 'evt_bad') ${BLOCK}
  if (event.id === 'evt_idle') await new Promise(() => {})
  if (event.id === 'evt_two')
    return [await step.run('tell', () => 0), await step.run('tell too', () => 0, { dry: () => 'dry' })]
  return '${output}'
} })`,
    )
  write('first')
  const [store, clock] = [openTestStore(), new ManualClock(NOW)]
  const planner = new RunPlanner({
    store,
    clock,
    ...parts,
    config: handConfig({ ...testConfig(workflowsDir), workflowsDir, effects }),
    clients: {
      clientOf: () => Promise.reject(new Error('no files here')),
      spellingsOf: () => ({}),
      stop: async () => {},
    },
  })
  onTestFinished(() => planner.stop())
  const runOf = (id: string, workflow = 'tidy') => {
    const at = { createdAt: NOW, receivedAt: NOW, stream: 0, seq: 1 }
    const body = eventBody(id, 'file.created')
    const event: EventRecord = { ...at, id, account: 'default', type: 'file.created', origin: 'webhook', body }
    return imagineRun(event, workflow, NOW)
  }
  const plan = (id: string, workflow?: string) => planner.plan(runOf(id, workflow))
  return { planner, plan, runOf, write, store, clock }
}

test('code that blocks the process of its plan fails by itself, and the plans beside it are made again', async () => {
  const { plan } = await openPlanner({ patienceMs: 6_000 })
  const [one, bad, other] = await Promise.all(['evt_1', 'evt_bad', 'evt_2'].map((id) => plan(id)))
  expect(one?.reason).toBe('would complete: 0 deletes, 0 other effects; nothing was done')
  expect(other?.reason).toBe(one?.reason)
  expect(bad?.reason).toMatch(/^would fail \(Error: The code ended the process that planned it, or blocked it/)
  expect((await plan('evt_3')).reason).toBe(one?.reason)
})

test('changed code is planned once it is loaded again', async () => {
  const { planner, plan, write } = await openPlanner()
  expect(JSON.parse((await plan('evt_1')).json).end).toEqual({ kind: 'completed', output: '"first"' })
  write('second')
  planner.reload()
  expect(JSON.parse((await plan('evt_2')).json).end).toEqual({ kind: 'completed', output: '"second"' })
})

test('a workflow without a module in the folder fails in its plan, and says so', async () => {
  const { plan } = await openPlanner()
  expect((await plan('evt_1', 'elsewhere')).reason).toMatch(/^would fail .*no module defines the workflow "elsewhere"/)
})

test('the plan of a fork begins with the results that the fork keeps, and is of the rest', async () => {
  const { planner, store } = await openPlanner()
  await queueRun(store, 'evt_two', 'tidy')
  const claim = await claimNext(store)
  await store.saveCheckpoint(claim.lease, checkpoint('tell', { output: '"told"' }))
  const plan = await planner.plan({ ...claim, isFirstPass: false })
  expect(JSON.parse(plan.json)).toMatchObject({
    effects: [{ step: 'tell too' }],
    end: { kind: 'completed', output: '["told","dry"]' },
  })
})

test('code that waits for ever ends its plan after a while', async () => {
  const { plan } = await openPlanner({ longestMs: 500 })
  expect((await plan('evt_idle')).reason).toMatch(/^would fail \(Error: Planning took too long/)
})

test('a process that was frozen while another one switched to planning plans what came since', async () => {
  const { planner, runOf, store, clock } = await openPlanner({ effects: 'live' })
  await planner.start()
  expect(await planner.isPlanned(runOf('evt_1'))).toBe(false)
  await settleEffects(store, { mode: 'plan', self: 'another', clock, publish: () => {} })
  clock.advance(60_000)
  expect(await planner.isPlanned(runOf('evt_2'))).toBe(true)
})

test('so does one whose clock was set back while it was frozen', async () => {
  const { planner, runOf, store, clock } = await openPlanner({ effects: 'live' })
  clock.advance(86_400_000)
  await planner.start()
  clock.set(NOW)
  await settleEffects(store, { mode: 'plan', self: 'another', clock, publish: () => {} })
  expect(await planner.isPlanned(runOf('evt_1'))).toBe(true)
})
