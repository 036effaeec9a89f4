import { setImmediate as turn } from 'node:timers/promises'
import { expect } from 'vitest'
import type { RunContext } from '../../../src/author/context.ts'
import type { PassCacheLimits } from '../../../src/engine/worker-parts.ts'
import { createTestEngine, type TestEngine, test } from '../../support/test-engine.ts'
import { define } from '../../support/workflows.ts'

/** Sleeps half a minute again and again; `calls` counts how often its code began. */
function sleeper(sleeps: number, between: (context: RunContext, index: number) => void = () => {}) {
  const counted = { calls: 0 }
  const workflow = define('sleeper', async (context) => {
    counted.calls += 1
    for (let index = 0; index < sleeps; index++) {
      between(context, index)
      await context.step.sleep(['nap', index], '30s')
    }
    return sleeps
  })
  return { workflow, counted }
}

const always: PassCacheLimits = { fromSteps: 0, maxAgeMs: 3_600_000 }

/** Starts a sleeper that is kept from its first sleep on, and lets it park there. */
async function startSleeper(
  passCache: PassCacheLimits = always,
  between?: (context: RunContext, index: number) => void,
) {
  const engine = createTestEngine()
  const { workflow, counted } = sleeper(3, between)
  await engine.start([workflow], { passCache })
  const run = await engine.run('sleeper')
  return { engine, counted, run }
}

async function finish(engine: TestEngine, runId: string): Promise<unknown> {
  for (let each = 0; each < 10; each++) {
    const run = await engine.advance(runId, '30s')
    if (run.finishedAt !== null) return run.output
  }
  throw new Error('it goes on sleeping')
}

test('a run goes on in memory, and its code is called once', async () => {
  const { engine, counted, run } = await startSleeper()
  expect(await finish(engine, run.id)).toBe('3')
  expect(counted.calls).toBe(1)
  const steps = await engine.store.listSteps(run.id)
  expect(steps.map(({ key, status }) => [key, status])).toEqual([0, 1, 2].map((each) => [`nap[${each}]`, 'completed']))
})

test('a run with fewer than 32 steps is replayed, and a longer one goes on in memory', async ({ engine }) => {
  const { workflow, counted } = sleeper(40)
  await engine.start([workflow])
  let run = await engine.run('sleeper')
  while (run.finishedAt === null) run = await engine.advance(run.id, '30s')
  expect(counted.calls).toBe(32)
})

test('a pass that is kept too long, or without room, is replayed', async () => {
  for (const limits of [{ maxAgeMs: 30_000 }, { max: 0 }, { maxBytes: 100 }]) {
    const { engine, counted, run } = await startSleeper({ ...always, ...limits })
    expect(await finish(engine, run.id)).toBe('3')
    expect([limits, counted.calls]).toEqual([limits, 4])
  }
})

test('the pass that is kept longest makes room for another', async ({ engine }) => {
  const { workflow, counted } = sleeper(1)
  await engine.start([workflow], { passCache: { ...always, max: 1 } })
  const first = await engine.run('sleeper', 'evt_1')
  const second = await engine.run('sleeper', 'evt_2')
  expect(counted.calls).toBe(2)
  const ended = engine.advance(second.id, '30s')
  await engine.passOf(first.id)
  await ended
  expect(counted.calls).toBe(3)
})

test('a person who skips a sleep, or cancels and retries a run, is obeyed', async () => {
  const { engine, counted, run } = await startSleeper()
  expect(await engine.store.skipSleep(run.id, engine.clock.now())).toBe('nap[0]')
  const skipped = await engine.passOf(run.id)
  expect(skipped.reason).toBe('sleeps in step "nap[1]"')
  await engine.store.cancelRun(run.id, 'by hand', engine.clock.now())
  await engine.store.retryRun(run.id, engine.clock.now())
  await engine.passOf(run.id)
  expect(await finish(engine, run.id)).toBe('3')
  expect(counted.calls).toBe(3)
})

test('a run that another worker has claimed since is replayed', async () => {
  const { engine, counted, run } = await startSleeper()
  const [claimed] = await engine.store.claimRuns('wrk_other', 1, engine.clock.now() + 30_000)
  if (!claimed) throw new Error('it is due')
  await engine.store.releaseRun(claimed.lease)
  await engine.passOf(run.id)
  expect(counted.calls).toBe(2)
  expect(await finish(engine, run.id)).toBe('3')
})

test('code that does something while its pass is parked is replayed', async () => {
  const strays: Record<string, (context: RunContext) => unknown> = {
    step: ({ step }) => step.run('stray', () => 1),
    draw: ({ random }) => random(),
    log: ({ log }) => log.info('stray'),
  }
  for (const [name, stray] of Object.entries(strays)) {
    const released = Promise.withResolvers<void>()
    let isFirst = true
    const { engine, counted, run } = await startSleeper(always, (context, index) => {
      if (index > 0 || !isFirst) return
      isFirst = false
      void released.promise.then(() => stray(context))
    })
    released.resolve()
    await turn()
    expect(await finish(engine, run.id)).toBe('3')
    expect([name, counted.calls]).toEqual([name, 2])
  }
})

test('a pass with work outside steps that has not ended is replayed', async () => {
  let isFirst = true
  const { engine, counted, run } = await startSleeper(always, () => {
    if (isFirst)
      setTimeout(() => {}, 60_000)
        .unref()
        .ref()
    isFirst = false
  })
  expect(await finish(engine, run.id)).toBe('3')
  expect(counted.calls).toBe(2)
})
