import { expect, test } from 'vitest'
import { z } from 'zod'
import { defineWorkflow } from '../../../src/author/define-workflow.ts'
import type { Invocable } from '../../../src/author/step-api.ts'
import { type CallableTrigger, callable } from '../../../src/author/trigger.ts'
import { awaitStatus } from '../../support/await-runs.ts'
import { createTestEngine } from '../../support/test-engine.ts'

type Endless = Invocable<CallableTrigger<z.ZodNumber>>

test('an invoke nested more than 100 deep fails in its step, and no run is made', async () => {
  const engine = createTestEngine()
  const endless: Endless = defineWorkflow({
    id: 'endless',
    on: callable(z.number()),
    retry: { attempts: 1 },
    run: ({ input, step }): Promise<unknown> => step.invoke('deeper', endless, input + 1),
  })
  const caller = defineWorkflow({
    id: 'caller',
    on: '*',
    retry: { attempts: 1 },
    run: ({ step }) => step.invoke('first', endless, 1),
  })
  await engine.start([caller, endless as never])
  const { id } = await engine.run('caller')
  const { error } = await awaitStatus(engine, id, 'failed')
  expect(error).toMatchObject({ code: 'invoke_too_deep', message: expect.stringContaining('100 invocations deep') })
  expect(await engine.store.listRuns({ workflow: 'endless', limit: 200 })).toHaveLength(100)
})
