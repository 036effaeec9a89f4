import { expect } from 'vitest'
import { z } from 'zod'
import { defineWorkflow } from '../../../src/author/define-workflow.ts'
import { callable } from '../../../src/author/trigger.ts'
import type { AnyWorkflow } from '../../../src/author/workflow.ts'
import { readChain } from '../../../src/core/store/runs.ts'
import { crashEverywhere } from '../../../src/testing/crash-everywhere.ts'
import { testbed } from '../../../src/testing/testbed.ts'
import { test } from '../../support/test-engine.ts'
import { define } from '../../support/workflows.ts'
import { moved, transfer } from '../support/transfer-waits.ts'

const input = z.object({ round: z.number(), seen: z.array(z.string()) })

/** Takes two events in each run, and goes on in another one until `rounds` are over. */
const collector = (rounds: number) =>
  defineWorkflow({
    id: 'collector',
    on: callable(input),
    singleton: true,
    run: async ({ input: { round, seen }, step }) => {
      for (let each = 0; each < 2; each++) {
        const event = await step.receive('next', { on: moved, where: { transfer: 't1' }, timeout: '1h' })
        if (event) seen.push(event.data.path)
      }
      if (round < rounds) await step.continueAs({ round: round + 1, seen })
      return seen
    },
  })

const paths = (count: number) => Array.from({ length: count }, (_, index) => `/${index}`)

test('a chain of runs receives each event once, also those that came between two of them', async () => {
  const workflow = collector(3)
  await using t = await testbed({ workflows: [workflow] })
  await t.start(workflow, { round: 1, seen: [] })
  await Promise.all(paths(5).map((path) => t.send(moved, transfer('t1', path))))
  await t.send(moved, transfer('t1', '/5'))
  expect(t.runs(workflow).map(({ status }) => status)).toEqual(['completed', 'completed', 'completed'])
  expect([...(t.run(workflow).output as string[])].sort()).toEqual(paths(6))
})

test('a crash at any write of a chain makes no second successor and loses no event', { timeout: 60_000 }, () => {
  const workflow = collector(2)
  return crashEverywhere({ workflows: [workflow] }, async (t) => {
    await t.start(workflow, { round: 1, seen: [] })
    for (const path of paths(4)) await t.send(moved, transfer('t1', path))
    return t.runs(workflow).map(({ status, output }) => ({ status, output }))
  })
})

test('the successor has the singleton place: a run that came meanwhile is skipped', async () => {
  const workflow = collector(2)
  await using t = await testbed({ workflows: [workflow] })
  await t.start(workflow, { round: 1, seen: [] })
  const other = () => t.start(workflow, { round: 9, seen: ['other'] })
  expect((await other()).status).toBe('skipped')
  for (const path of paths(2)) await t.send(moved, transfer('t1', path))
  expect((await other()).status).toBe('skipped')
  for (const path of paths(2)) await t.send(moved, transfer('t1', path))
  const after = await other()
  expect(after.status).toBe('waiting')
})

test('a run that invoked the first of a chain gets the output of the last', async () => {
  const child = defineWorkflow({
    id: 'child',
    on: callable(z.number()),
    run: async ({ input, step }): Promise<number> => {
      await step.sleep('nap', '1m')
      if (input < 3) await step.continueAs(input + 1)
      return input
    },
  })
  const parent = define('parent', { on: 'go' }, ({ step }) => step.invoke('child', child, 1))
  await using t = await testbed({ workflows: [parent, child] })
  await t.send('go')
  await t.advance('3m')
  expect(t.run(parent)).toMatchObject({ status: 'completed', output: 3 })
  await t.send('go')
  await t.advance('1m')
  await t.cancel(t.run(parent))
  expect(t.run(child)).toMatchObject({ status: 'canceled' })
})

test('a chain is shown as one', async ({ engine }) => {
  await engine.serve('chain', { on: 'file.created' }, async ({ event, step }) => {
    const { round = 0 } = event.data as { round?: number }
    if (round < 2) await step.continueAs({ data: { round: round + 1 } })
    return round
  })
  const ended = new Promise<void>((resolve) => {
    let count = 0
    engine.notices.subscribe('run.completed', () => void (++count === 3 && resolve()))
  })
  const { id } = await engine.run('chain')
  await ended
  const first = await engine.store.findRun(id)
  const chain = first ? await readChain(engine.store, first) : []
  expect(chain.map(({ output, origin }) => [output, origin])).toEqual([
    ['null', 'event'],
    ['null', 'continue'],
    ['2', 'continue'],
  ])
  expect(chain.map(({ continuedBy }) => continuedBy)).toEqual([chain[1]?.id, chain[2]?.id, null])
  const [, , last] = chain
  expect(last && (await readChain(engine.store, last)).map((run) => run.id)).toEqual(chain.map((run) => run.id))
})

test('a run is continued after its steps at work have ended, and code behind the call does not run', async () => {
  const order: string[] = []
  const workflow = defineWorkflow({
    id: 'joined',
    on: callable(z.number()),
    run: async ({ input, step }) => {
      order.push(`begins ${input}`)
      if (input > 0) return
      void step.run('slow', async () => {
        await new Promise(setImmediate)
        order.push('slow')
      })
      await step.continueAs(1)
      order.push('behind')
    },
  })
  await using t = await testbed({ workflows: [workflow] })
  await t.start(workflow, 0)
  expect(order).toEqual(['begins 0', 'slow', 'begins 1'])
})

const refused = (run: AnyWorkflow['run'], on: AnyWorkflow['on'] = 'go') =>
  ({ ...define('refused', { on: 'go', retry: { attempts: 1 } }, () => null), on, run }) as AnyWorkflow

test.each([
  ['inside a step', 'was called inside step "outer"', (step: never) => insideStep(step)],
  [
    'with an input that does not fit',
    'does not fit',
    (step: { continueAs: (input: unknown) => unknown }) => step.continueAs({ type: 7 }),
  ],
  [
    'with an input of more than 1 MiB',
    'more than 1048576 bytes',
    (step: { continueAs: (input: unknown) => unknown }) => step.continueAs({ data: { text: 'x'.repeat(1_100_000) } }),
  ],
] as const)('continueAs %s is refused with a clear error', async (_, message, call) => {
  const on = callable(z.object({ data: z.object({ text: z.string() }) }))
  const workflow = refused(({ step }: never) => call(step), on)
  await using t = await testbed({ workflows: [workflow] })
  const run = await t.start(workflow, { data: { text: 'x' } })
  expect(run).toMatchObject({ status: 'failed', error: { message: expect.stringContaining(message) } })
})

const insideStep = (step: {
  run: (name: string, fn: () => unknown, options: object) => unknown
  continueAs: (input: unknown) => unknown
}) => step.run('outer', () => step.continueAs({}), { retry: { attempts: 1 } })

test('continueAs in onFailure is refused with a clear error', async () => {
  const workflow = define(
    'fails',
    { on: 'go', retry: { attempts: 1 }, onFailure: ({ step }) => step.continueAs({ data: {} }) },
    () => {
      throw new Error('no')
    },
  )
  await using t = await testbed({ workflows: [workflow] })
  await t.send('go')
  expect(t.runs(workflow).at(-1)).toMatchObject({
    status: 'failed',
    error: { code: 'invalid_workflow', message: expect.stringContaining('onFailure') },
  })
})
