import { expect } from 'vitest'
import type { Planner } from '../../../src/engine/worker-parts.ts'
import { queueRun } from '../../support/fixtures.ts'
import { test } from '../../support/test-engine.ts'
import { define } from '../../support/workflows.ts'

const acted: string[] = []
const tidy = define('tidy', { on: 'file.created' }, async ({ step }) => {
  await step.sleep('grace', '1h')
  await step.run('act', () => void acted.push('act'))
})

/** A planner of every run, whose plans end when the test lets them. */
function planner(parts: Partial<Planner> = {}): Planner {
  return {
    acts: false,
    isPlanned: () => true,
    plan: async () => ({ reason: 'would complete; nothing was done', json: '{"end":{"kind":"completed"}}' }),
    ...parts,
  }
}

test('a planned run ends as planned, with its plan as output, and no step of it has begun', async ({ engine }) => {
  await engine.start([tidy], { planner: planner() })
  const run = await engine.run('tidy')
  expect(run).toMatchObject({
    status: 'planned',
    reason: 'would complete; nothing was done',
    error: null,
    output: '{"end":{"kind":"completed"}}',
  })
  expect(run.finishedAt).not.toBe(null)
  expect(await engine.store.listSteps(run.id)).toEqual([])
  expect(engine.heard).toContainEqual(expect.objectContaining({ kind: 'run.planned', run: run.id }))
  // Neither a retry nor a resume makes it act.
  expect(await engine.store.retryRun(run.id, engine.clock.now())).toBe(false)
  expect(await engine.store.resumeRun(run.id, { fromScratch: true })).toBe(false)
  expect(acted).toEqual([])
})

test('a run that was made to act waits while nothing acts, and then goes on where it was', async ({ engine }) => {
  const live = await engine.start([tidy])
  const asleep = await engine.run('tidy')
  expect(asleep).toMatchObject({ status: 'waiting' })
  await live.stop()
  const plans = await engine.start([tidy], { planner: planner({ isPlanned: () => false }) })
  const held = await engine.advance(asleep.id, '1h')
  expect(held).toMatchObject({ status: 'waiting', reason: expect.stringContaining('UPSHOT_EFFECTS=plan') })
  expect(await engine.advance(asleep.id, '1m')).toMatchObject({ status: 'waiting' })
  expect(acted).toEqual([])
  await plans.stop()
  await engine.start([tidy], { planner: planner({ acts: true, isPlanned: () => false }) })
  expect(await engine.advance(asleep.id, '1m')).toMatchObject({ status: 'completed' })
  expect(acted).toEqual(['act'])
  acted.length = 0
})

test('a run that was cut off in its first step goes on after any time, as it had started', async ({ engine }) => {
  let calls = 0
  const first = Promise.withResolvers<void>()
  const prompt = define('prompt', { on: 'file.created', timeout: { start: '10m' } }, ({ step }) =>
    step.run('act', () => (++calls === 1 ? first.promise : undefined)),
  )
  const live = await engine.start([prompt], { drainMs: 0 })
  const begun = engine.notices.once('run.started')
  const gone = engine.run('prompt')
  const { run } = await begun
  await expect.poll(() => calls).toBe(1)
  const stopped = live.stop()
  engine.clock.advance(1)
  first.resolve()
  await stopped
  await gone
  engine.clock.advance('1m')
  const plans = await engine.start([prompt], { planner: planner({ isPlanned: () => false }) })
  await engine.notices.once('run.parked')
  await plans.stop()
  engine.clock.advance('1h')
  await engine.start([prompt], { planner: planner({ acts: true, isPlanned: () => false }) })
  expect(await engine.passOf(run)).toMatchObject({ status: 'completed' })
})

test('a plan that a crash cut short is made again, and the first one writes nothing', async ({ engine }) => {
  const first = Promise.withResolvers<{ reason: string; json: string }>()
  const dead = await engine.start([tidy], { planner: planner({ plan: () => first.promise }), slots: 1 })
  const id = await queueRun(engine.store, 'evt_1', 'tidy')
  const began = engine.notices.once('run.started', ({ run }) => run === id)
  dead.wake()
  await began
  // Its worker counts as gone, and another one takes the run.
  await engine.store.stopWorker(dead.id)
  await engine.start([tidy], { planner: planner() })
  expect(await engine.passOf(id)).toMatchObject({ status: 'planned', output: '{"end":{"kind":"completed"}}' })
  const lost = engine.notices.once('run.lost', ({ run }) => run === id)
  first.resolve({ reason: 'too late', json: '"too late"' })
  await lost
  expect(await engine.store.findRun(id)).toMatchObject({ status: 'planned', output: '{"end":{"kind":"completed"}}' })
})

test('a worker that stops gives a run back whose plan is under way', async ({ engine }) => {
  const worker = await engine.start([tidy], { planner: planner({ plan: () => new Promise(() => {}) }) })
  const id = await queueRun(engine.store, 'evt_1', 'tidy')
  const began = engine.notices.once('run.started', ({ run }) => run === id)
  worker.wake()
  await began
  await worker.stop()
  expect(await engine.store.findRun(id)).toMatchObject({ status: 'pending' })
})
