import { expect } from 'vitest'
import { z } from 'zod'
import { defineEvent } from '../../../src/author/define-event.ts'
import { defineWorkflow } from '../../../src/author/define-workflow.ts'
import { type CallableTrigger, callable, type Invocable } from '../../../src/author/trigger.ts'
import type { StepError } from '../../../src/core/errors.ts'
import { awaitStatus } from '../../support/await-runs.ts'
import { createTestEngine, test } from '../../support/test-engine.ts'
import { define } from '../../support/workflows.ts'

type Endless = Invocable<CallableTrigger<z.ZodNumber>>

test('an invoke nested more than 100 deep fails in its step, and no run is made', async ({ engine }) => {
  const endless: Endless = defineWorkflow({
    id: 'endless',
    on: callable(z.number()),
    retry: { attempts: 1 },
    run: ({ input, step }): Promise<unknown> => step.invoke('deeper', endless, input + 1),
  })
  const caller = define('caller', { retry: { attempts: 1 } }, ({ step }) => step.invoke('first', endless, 1))
  await engine.start([caller, endless as never])
  const { id } = await engine.run('caller')
  const { error } = await awaitStatus(engine, id, 'failed')
  expect(error).toMatchObject({ code: 'invoke_too_deep', message: expect.stringContaining('100 invocations deep') })
  expect(await engine.store.listRuns({ workflow: 'endless', limit: 200 })).toHaveLength(100)
})

test('an invoke whose input does not fit fails in its step at once, and no run is made', async ({ engine }) => {
  const double = defineWorkflow({
    id: 'double',
    on: callable(z.object({ n: z.string() })),
    run: ({ input }) => input.n,
  })
  const moved = defineEvent('transfer.completed', { data: z.object({ bytes: z.string() }) })
  const onEvent = defineWorkflow({ id: 'on-event', on: moved, run: ({ event }) => event.data.bytes })
  const caller = define('caller', async ({ step }) => {
    const failures: unknown[] = []
    const called = step.invoke('twice', double, { n: 21 } as never)
    failures.push(await called.catch((error: StepError) => error.failure))
    const sent = step.invoke('event', onEvent, { data: { bytes: 12 } } as never)
    failures.push(await sent.catch((error: StepError) => error.failure))
    const bare = step.invoke('bare', onEvent, { bytes: '12' } as never)
    failures.push(await bare.catch((error: StepError) => error.failure))
    await step.sleep('nap', '1m')
    return failures
  })
  await engine.start([caller, double, onEvent])
  const { id } = await engine.run('caller')
  const { output } = await engine.advance(id, '1m')
  expect(JSON.parse(output ?? 'null')).toEqual([
    expect.objectContaining({ code: 'invalid_request', message: expect.stringContaining('input.n') }),
    expect.objectContaining({ code: 'invalid_request', message: expect.stringContaining('data.bytes') }),
    expect.objectContaining({
      code: 'invalid_request',
      message: expect.stringContaining('its input is one: { data: … }'),
    }),
  ])
  expect(await engine.store.listRuns({ parentRun: id, limit: 5 })).toEqual([])
  expect(await engine.store.listStepFailures(id)).toMatchObject([{ key: 'twice' }, { key: 'event' }, { key: 'bare' }])
})

test.each(['skip', 'queue', 'cancel'] as const)(
  'a singleton with onConflict %s that invokes itself gets an error instead of waiting for itself',
  async (onConflict) => {
    const engine = createTestEngine()
    const between: Endless = defineWorkflow({
      id: 'between',
      on: callable(z.number()),
      retry: { attempts: 1 },
      run: ({ input, step }): unknown => step.invoke('back', alone, input + 1),
    })
    const alone: Endless = defineWorkflow({
      id: 'alone',
      on: callable(z.number()),
      singleton: { onConflict },
      retry: { attempts: 1 },
      run: ({ input, step }): unknown => step.invoke('on', input === 1 ? alone : between, input + 1),
    })
    const caller = define('caller', async ({ step }) => [
      await step.invoke('itself', alone, 1).catch((error: StepError) => error.failure.message),
      await step.invoke('indirect', alone, 2).catch((error: StepError) => error.failure.message),
    ])
    await engine.start([caller, alone as never, between as never])
    const { id } = await engine.run('caller')
    const { output } = await awaitStatus(engine, id, 'completed')
    const reason = expect.stringContaining('cannot end before this run, which it invoked')
    expect(JSON.parse(output ?? 'null')).toEqual([reason, reason])
  },
)

test('a workflow with concurrency 1 may invoke itself, because a run that waits holds no slot', async ({ engine }) => {
  const countdown: Endless = defineWorkflow({
    id: 'countdown',
    on: callable(z.number()),
    concurrency: { limit: 1 },
    run: ({ input, step }): unknown => (input === 0 ? 'zero' : step.invoke('next', countdown, input - 1)),
  })
  const caller = define('caller', ({ step }) => step.invoke('count', countdown, 3))
  await engine.start([caller, countdown as never])
  const { id } = await engine.run('caller')
  expect((await awaitStatus(engine, id, 'completed')).output).toBe('"zero"')
})
