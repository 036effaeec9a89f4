import { expect } from 'vitest'
import type { StepApi } from '../../../src/author/steps/step-api.ts'
import type { Store } from '../../../src/core/store/store.ts'
import { queueRun } from '../../support/fixtures.ts'
import { createTestEngine, test } from '../../support/test-engine.ts'
import { define } from '../../support/workflows.ts'

const READ = { effect: 'read', retry: { attempts: 1 } } as const

/** Loops without end, by what they call. */
const LOOPS: Record<string, (step: StepApi, i: number) => Promise<unknown>> = {
  'sleeps of no time': (step, i) => step.sleep(['a', i], 0),
  'sleeps until the past': (step, i) => step.sleepUntil(['a', i], 0),
  reads: (step, i) => step.run(['a', i], () => i, READ),
  writes: (step, i) => step.run(['a', i], () => i),
  'steps that fail': (step, i) => step.run(['a', i], () => Promise.reject(new Error('no')), READ).catch(() => {}),
  'events that it sends': (step, i) => step.send(['a', i], 'nobody.waits', { i }),
  patches: (step, i) => step.patched(`p${i}`),
  'calls that are refused': (step, i) => step.run(`#${i}`, () => i).catch(() => {}),
  'steps inside a step': (step, i) =>
    step.run(['a', i], () => step.run('inner', () => i).catch(() => i), READ).catch(() => {}),
  'an endless list': (step) =>
    step.map(
      'a',
      Iterator.from({ next: () => ({ done: false, value: 1 }) }),
      (_, index) => index,
      () => 1,
      READ,
    ),
}

/** Each of their steps waits for a commit, or is no row. */
const SLOW = /sleeps|writes/
const AT_ONCE = /refused|inside|endless/

test.each(Object.entries(LOOPS))(
  'a loop of %s lets another run go on, and is parked at its limit',
  async (of, call) => {
    const steps = SLOW.test(of) ? 100 : 1_000
    const engine = createTestEngine()
    await engine.start([
      define('loop', { limits: { steps } }, async ({ step }) => {
        for (let i = 0; ; i++) await call(step, i)
      }),
      define('other', ({ step }) => step.run('one', () => 1)),
    ])
    const [parked] = await Promise.all([engine.run('loop', 'evt_1'), engine.run('other', 'evt_2')])
    expect(parked).toMatchObject({ status: 'waiting', dueAt: null })
    expect(parked.reason).toMatch(
      /^it calls more than [1,0]+ steps, at test\/engine\/pass\/loops\.test\.ts:\d+:\d+\. It probably loops/,
    )
    const ends = engine.heard.filter(({ kind }) => kind === 'run.completed' || kind === 'run.parked')
    if (!AT_ONCE.test(of)) expect(ends[0]).toMatchObject({ workflow: 'other' })
  },
)

test('a run goes on behind its limit once that is raised and a person resumes it', async ({ engine }) => {
  let steps = 3
  const calls: number[] = []
  const workflow = () =>
    define('long', { limits: { steps } }, async ({ step }) => {
      for (let i = 0; i < 5; i++) await step.run(['a', i], () => void calls.push(i))
    })
  const workflows = [workflow()]
  await engine.start(workflows)
  const parked = await engine.run('long')
  expect(parked.reason).toContain('raise limits.steps of "long" or of the project. Then resume the run')
  steps = 5
  workflows[0] = workflow()
  await engine.store.resumeRun(parked.id, { fromScratch: false })
  expect(await engine.passOf(parked.id)).toMatchObject({ status: 'completed' })
  expect(calls).toEqual([0, 1, 2, 3, 4])
})

test('a project sets the limit of the workflows that set none', async ({ engine }) => {
  const run = async ({ step }: { step: StepApi }) => void (await step.map('a', [1, 2, 3], String, () => 1, READ))
  await engine.start([define('any', run)], { maxSteps: 2 })
  expect(await engine.run('any')).toMatchObject({ reason: expect.stringContaining('more than 2 steps') })
})

test('a long replay lets the event loop turn', async ({ engine }) => {
  let turns = 0
  const seen: number[] = []
  await engine.start(
    [
      define('long', async ({ step }) => {
        await step.run('first', () => 0)
        const before = turns
        for (let i = 0; i < 5_000; i++) await step.run(['a', i], () => i, READ)
        seen.push(turns - before)
        await step.sleep('nap', '1m')
      }),
    ],
    { passCache: { max: 0 } },
  )
  const parked = await engine.run('long')
  let isOver = false
  const count = () => {
    turns += 1
    if (!isOver) setImmediate(count)
  }
  count()
  await engine.advance(parked.id, '1m')
  isOver = true
  expect(seen[1]).toBeGreaterThanOrEqual(4)
})

/** A store that counts the rows of steps that are under way at a time. */
function counting(store: Store): { store: Store; most: () => number } {
  let [now, most] = [0, 0]
  const saveCheckpoint: Store['saveCheckpoint'] = async (...given) => {
    most = Math.max(most, ++now)
    await store.saveCheckpoint(...given)
    now -= 1
  }
  return { store: { ...store, saveCheckpoint }, most: () => most }
}

test.each([
  ['sleeps of no time', 1, (step: StepApi, i: number) => step.sleep(['a', i], 0)],
  ['reads', 64, (step: StepApi, i: number) => step.run(['a', i], () => i, READ)],
])('of %s in a loop, at most %d are under way to the database', async (_, most, call) => {
  const engine = createTestEngine()
  const counted = counting(engine.store)
  const run = async ({ step }: { step: StepApi }) => {
    for (let i = 0; i < 300; i++) await call(step, i)
  }
  await engine.start([define('loop', run)], { store: counted.store })
  expect(await engine.run('loop')).toMatchObject({ status: 'completed' })
  expect(counted.most()).toBe(most)
})

test('of a thousand steps at once, 64 are under way, and all are on disk before the run parks', async ({ engine }) => {
  const counted = counting(engine.store)
  const run = async ({ step }: { step: StepApi }) => {
    await Promise.all(Array.from({ length: 1_000 }, (_, i) => step.sleep(['a', i], '1h')))
  }
  await engine.start([define('many', run)], { store: counted.store })
  const parked = await engine.run('many')
  expect(await engine.store.listSteps(parked.id)).toHaveLength(1_000)
  expect(counted.most()).toBe(64)
  expect(await engine.advance(parked.id, '1h')).toMatchObject({ status: 'completed' })
})

test('rows that cannot be written end the pass of a loop', async ({ engine }) => {
  let isBroken = true
  const saveCheckpoint: Store['saveCheckpoint'] = (...given) =>
    isBroken ? Promise.reject(new Error('the disk is gone')) : engine.store.saveCheckpoint(...given)
  const run = async ({ step }: { step: StepApi }) => {
    for (let i = 0; i < 200; i++) await step.run(['a', i], () => i, READ)
  }
  await engine.start([define('loop', run)], { store: { ...engine.store, saveCheckpoint } })
  const id = await queueRun(engine.store, 'evt_1', 'loop')
  expect(await engine.passOf(id)).toMatchObject({ status: 'waiting', reason: 'interrupted: the disk is gone' })
  expect(engine.heard.find(({ kind }) => kind === 'fault')).toMatchObject({ error: { message: 'the disk is gone' } })
  isBroken = false
  expect(await engine.advance(id, '5s')).toMatchObject({ status: 'completed' })
})
