import { expect } from 'vitest'
import { z } from 'zod'
import { defineWorkflow } from '../../../src/author/define-workflow.ts'
import { callable } from '../../../src/author/trigger.ts'
import { NOW } from '../../support/fixtures.ts'
import { test } from '../../support/test-engine.ts'

const NO_RETRY = { attempts: 1 }

test('a run whose event body is pruned is parked and says so', async ({ engine }) => {
  await engine.serve('flaky', { retry: NO_RETRY }, () => {
    throw new Error('once')
  })
  const failed = await engine.run('flaky')
  await engine.store.prune({ kind: 'payloads', before: NOW + 1, limit: 10, after: null })
  await engine.store.retryRun(failed.id, engine.clock.now())
  expect(await engine.advance(failed.id, '1s')).toMatchObject({
    status: 'waiting',
    dueAt: null,
    reason: 'the body of its event evt_1 is pruned',
  })
})

test.for<[string, z.ZodType, string]>([
  ['takes null', z.null(), '{"got":null}'],
  ['may be null', z.object({ n: z.number() }).nullable(), '{"got":null}'],
  ['may be left out', z.object({ n: z.number() }).optional(), '{}'],
  ['has a default', z.string().default('none'), '{"got":"none"}'],
  ['takes anything', z.unknown(), '{"got":null}'],
])('a run that a person starts with null goes on where the input %s', async ([, schema, output], { engine }) => {
  const workflow = defineWorkflow({ id: 'told', on: callable(schema), run: ({ input }) => ({ got: input }) })
  await engine.start([workflow])
  const createdAt = engine.clock.now()
  await engine.store.startRun({ run: 'run_1', workflow: 'told', account: 'default', input: 'null', createdAt })
  const run = await engine.passOf('run_1')
  expect(run.output).toBe(output)
  expect(engine.heard.find(({ kind }) => kind === 'run.completed')).toMatchObject({ parentRun: null })
})
