import { expect } from 'vitest'
import { z } from 'zod'
import { defineEvent } from '../../../src/author/define-event.ts'
import { defineWorkflow } from '../../../src/author/define-workflow.ts'
import { callable } from '../../../src/author/trigger.ts'
import { StepError } from '../../../src/core/errors.ts'
import { awaitFound, awaitStatus } from '../../support/await-runs.ts'
import { createTestEngine, type TestEngine, test } from '../../support/test-engine.ts'
import { define } from '../../support/workflows.ts'

const double = defineWorkflow({
  id: 'double',
  on: callable(z.object({ n: z.string().transform(Number) })),
  run: async ({ input, step }) => step.run('double', () => input.n * 2),
})

/** The runs that a run invoked, oldest first. */
async function children(engine: TestEngine, parentRun: string) {
  return (await engine.store.listRuns({ parentRun, limit: 100 })).reverse()
}

async function childOf(engine: TestEngine, parentRun: string) {
  return awaitFound(engine.notices, async () => (await children(engine, parentRun))[0] ?? null)
}

test('an invoke throws the error that its child failed with', async ({ engine }) => {
  const failing = defineWorkflow({
    id: 'failing',
    on: callable(z.void()),
    retry: { attempts: 1 },
    run: () => {
      throw new Error('the disk is on fire')
    },
  })
  const caller = define('caller', async ({ step }) => {
    const error = await step.invoke('other', failing).catch((error: unknown) => error)
    await step.sleep('nap', '1m')
    return { isStepError: error instanceof StepError, failure: (error as StepError).failure.message }
  })
  await engine.start([caller, failing])
  const { id } = await engine.run('caller')
  await engine.notices.once('run.parked', ({ reason }) => reason.includes('nap'))
  await engine.advance(id, '1m')
  expect(await engine.store.findRun(id)).toMatchObject({
    output: '{"isStepError":true,"failure":"the disk is on fire"}',
  })
})

test('an invoked event workflow gets an event completed from the input', async ({ engine }) => {
  const moved = defineEvent('transfer.completed', { data: z.object({ bytes: z.string().transform(Number) }) })
  const onEvent = defineWorkflow({
    id: 'on-event',
    on: moved,
    where: (event) => event.data.bytes > 1,
    run: ({ event }) => ({ type: event.type, bytes: event.data.bytes, id: event.id.slice(0, 4) }),
  })
  const caller = define('caller', async ({ step }) => [
    await step.invoke('yes', onEvent, { data: { bytes: '12' } }),
    await step.invoke('no', onEvent, { data: { bytes: '1' } }).catch((error: StepError) => error.failure.message),
  ])
  await engine.start([caller, onEvent])
  const { id } = await engine.run('caller')
  const output = JSON.parse((await awaitStatus(engine, id, 'completed')).output ?? '')
  expect(output[0]).toEqual({ type: 'transfer.completed', bytes: 12, id: 'evt_' })
  expect(output[1]).toContain('was skipped: its `where` returned false')
})

test('an invoke that times out cancels its child', async ({ engine }) => {
  const slow = defineWorkflow({ id: 'slow', on: callable(z.void()), run: ({ step }) => step.sleep('nap', '1d') })
  const caller = define('caller', ({ step }) =>
    step.invoke('slow', slow, undefined, { timeout: '1h' }).catch((error: StepError) => error.failure.code),
  )
  await engine.start([caller, slow])
  const parked = await engine.run('caller')
  const child = await childOf(engine, parked.id)
  await awaitStatus(engine, child.id, 'waiting')
  expect(await engine.advance(parked.id, '1h')).toMatchObject({ status: 'completed', output: '"step_timeout"' })
  expect(await engine.store.findRun(child.id)).toMatchObject({ status: 'canceled' })
})

test('a failed run cancels what it invoked, and an abandoned child keeps the timeout of its step', async () => {
  const engine = createTestEngine()
  const sleeper = (id: string) =>
    defineWorkflow({
      id,
      on: callable(z.void()),
      run: async ({ step }) => {
        await step.sleep('long', '30d')
        return 'late'
      },
    })
  const [closed, kept] = [sleeper('closed'), sleeper('kept')]
  let fails = true
  const caller = define('caller', { retry: { attempts: 1 } }, async ({ step }) => {
    const children = [
      step.invoke('closed', closed),
      step.invoke('kept', kept, undefined, { timeout: '2h', parentClosePolicy: 'abandon' }),
    ]
    await step.sleep('until both are at work', '1h')
    if (fails) throw new Error('no more')
    return Promise.race(children).catch((error: StepError) => error.failure.message)
  })
  await engine.start([caller, closed, kept])
  const { id } = await engine.run('caller')
  const before = await awaitFound(engine.notices, async () => {
    const both = await children(engine, id)
    return both.length === 2 && both.every(({ status }) => status === 'waiting') ? both : null
  })
  expect(await engine.advance(id, '1h')).toMatchObject({ status: 'failed' })
  const find = (workflow: string) => engine.store.findRun(before.find((run) => run.workflow === workflow)?.id ?? '')
  expect(await find('closed')).toMatchObject({ status: 'canceled', reason: `run ${id}, which invoked it, failed` })
  expect(await find('kept')).toMatchObject({ status: 'waiting' })
  // A retry invokes both anew: nothing waits for a child that was canceled.
  fails = false
  expect(await engine.store.retryRun(id, engine.clock.now())).toBe(true)
  const abandoned = (await find('kept'))?.id ?? ''
  expect(await engine.advance(abandoned, '1h')).toMatchObject({
    status: 'canceled',
    reason: `the step of run ${id} that invoked it timed out`,
  })
  expect(await children(engine, id)).toHaveLength(4)
})

test('a child at work hears at once that the run which invoked it has failed', async ({ engine }) => {
  const begun = Promise.withResolvers<AbortSignal>()
  const hanging = defineWorkflow({
    id: 'hanging',
    on: callable(z.void()),
    run: ({ step }) =>
      step.run('hang', ({ signal }) => {
        begun.resolve(signal)
        return new Promise<void>(() => {})
      }),
  })
  const caller = define('caller', { retry: { attempts: 1 } }, async ({ step }) => {
    void step.invoke('hanging', hanging)
    await step.run('look', async () => {
      engine.clock.advance('1s')
      await begun.promise
    })
    throw new Error('no more')
  })
  await engine.start([caller, hanging])
  // The clock stands still before the next heartbeat.
  expect(await engine.run('caller')).toMatchObject({ status: 'failed' })
  const signal = await begun.promise
  if (!signal.aborted) await new Promise((resolve) => signal.addEventListener('abort', resolve))
  expect(signal.reason).toMatchObject({ code: 'conflict' })
})

test('an unknown parentClosePolicy fails the step and makes no run', async ({ engine }) => {
  const caller = define('caller', { retry: { attempts: 1 } }, ({ step }) =>
    step.invoke('twice', double, { n: '1' }, { parentClosePolicy: 'terminate' as never }),
  )
  await engine.start([caller, double])
  const run = await engine.run('caller')
  expect(run.error?.message).toBe('Step "twice": parentClosePolicy is "terminate". Use "cancel" or "abandon".')
  expect(await children(engine, run.id)).toEqual([])
})

test('a workflow on a schedule cannot be invoked', async ({ engine }) => {
  const { cron } = await import('../../../src/author/cron.ts')
  const nightly = defineWorkflow({ id: 'nightly', on: cron('0 3 * * *'), run: () => null })
  const caller = define('caller', ({ step }) => step.invoke('nightly', nightly as never))
  await engine.start([caller, nightly])
  expect(await engine.run('caller')).toMatchObject({
    status: 'failed',
    error: { message: expect.stringContaining('runs on a schedule') },
  })
})
