import { expect } from 'vitest'
import type { RunContext } from '../../../src/author/context.ts'
import { cron } from '../../../src/author/cron.ts'
import { defineEvent } from '../../../src/author/define-event.ts'
import { callable } from '../../../src/author/trigger.ts'
import { createTestEngine, test } from '../../support/test-engine.ts'

/** The context as JavaScript has it: without types. */
type Untyped = { [Api in 'step' | 'files']: Record<string, (...given: unknown[]) => unknown> }

const fn = () => 1
async function* asynchronous() {}
const file = { service: 'storage_a', id: 'fil_1' }

async function failWith(misuse: (context: Untyped) => unknown) {
  const engine = createTestEngine()
  const run = async (context: RunContext) => misuse(context as unknown as Untyped)
  await engine.serve('misuse', { retry: { attempts: 4 } }, run)
  const ended = await engine.run('misuse')
  return { ...ended, steps: await engine.store.listSteps(ended.id) }
}

test.each<[misuse: (context: Untyped) => unknown, fault: string]>([
  [
    ({ step }) => step.run?.('x', { retry: {} }, fn),
    'step.run: `fn` must be a function, and is an object. Call it as step.run(name, fn, options?)',
  ],
  [({ step }) => step.run?.(fn), 'step.run: `name` must be text, or [text, key], and is a function'],
  [
    ({ step }) => step.run?.('x', fn, { retries: 2 }),
    'step.run: `options` has no "retries", only retry, timeout, effect, target, input, once, dry',
  ],
  [
    ({ step }) => step.run?.('x', fn, { effect: 'remove' }),
    'step.run: `options.effect` must be "read", "write" or "delete", and is text',
  ],
  [({ step }) => step.run?.(['x', null], fn), 'step.run: `name` must be text, or [text, key], and is a list'],
  [
    ({ step }) => step.run?.('x', Promise.resolve(1)),
    'step.run: `fn` must be a function, and is a promise: await it first',
  ],
  [
    ({ step }) => step.map?.('x', [1], fn, { key: fn }),
    'step.map: `fn` must be a function, and is an object. Call it as step.map(name, items, keyOf, fn, options?)',
  ],
  [
    ({ step }) => step.map?.('x', asynchronous(), fn, fn),
    'step.map: `items` must be a list, and is asynchronous: read it into a list first',
  ],
  [({ step }) => step.sleep?.('5m'), 'step.sleep: `duration` must be a duration such as "30s", and is missing'],
  [
    ({ step }) => step.sleepUntil?.('x', '2026-01-01'),
    'step.sleepUntil: `moment` must be a date or milliseconds, and is text',
  ],
  [({ step }) => step.waitFor?.('x', 'file.created', '5m'), 'step.waitFor: `options` must be an object, and is text'],
  [
    ({ step }) => step.waitFor?.('x', { on: 'file.created' }),
    'step.waitFor: `options.timeout` must be a duration such as "30s", and is missing',
  ],
  [
    ({ step }) => step.receive?.('x', { event: 'file.created', timeout: '5m' }),
    'step.receive: `options` has no "event", only on, where, timeout',
  ],
  [
    ({ step }) => step.hook?.('x', { data: { verdict: 'text' }, expires: '2h' }),
    'step.hook: `options.data` must be a zod schema, and is an object',
  ],
  [
    ({ step }) => step.send?.('x', { id: 1 }, 'file.seen'),
    'step.send: `type` must be an event type or a defineEvent(…), and is an object',
  ],
  [
    ({ step }) => step.send?.('file.seen', { id: 1 }),
    'and is an object. Call it as step.send(name, type, data, options?)',
  ],
  [({ step }) => step.schedule?.('x', '0 4 * * *', {}), 'step.schedule: `schedule` must be an object, and is text'],
  [
    ({ step }) => step.schedule?.('x', { workflow: 'mirror', cron: '0 4 * * *' }),
    'step.schedule: `schedule.workflow` must be a workflow, and is text',
  ],
  [({ step }) => step.invoke?.('x', 'mirror', {}), 'step.invoke: `workflow` must be a workflow, and is text'],
  [({ step }) => step.approve?.('May it go?'), 'step.approve: `question` must be an object, and is missing'],
  [({ step }) => step.patched?.({ id: 'new' }), 'step.patched: `id` must be text, and is an object'],
  [
    ({ files }) => files.get?.('fil_1'),
    'files.get: `file` must be a file with `service` and `id`, and is text. Call it as files.get(file, options?)',
  ],
  [
    ({ files }) => files.find?.({ service: 'storage_a' }),
    'files.find: `place` must be an object with `service`, and `id` or `path`, and is an object',
  ],
  [({ files }) => files.download?.(file, '/tmp/x'), 'files.download: `options` must be an object, and is text'],
  [
    ({ files }) => files.delete?.(file, { allowFolders: true }),
    'files.delete: `options` has no "allowFolders", only retry, timeout, expect, allowFolder',
  ],
  [
    ({ files }) => files.deleteAll?.(['fil_1']),
    'files.deleteAll: `files` must be a list of files with `service` and `id`, and is a list',
  ],
  [({ step }) => step.run?.('', fn), '"" is not a step name: use 1 to 200 characters but "#", "[" and "]"'],
  [({ step }) => step.map?.('all[0]', [1], String, fn), '"all[0]" is not a step name'],
  [
    ({ step }) => step.sleep?.('\ud800', '5m'),
    'holds half of a character (a lone surrogate), so it is no well-formed Unicode',
  ],
  [({ files }) => files.snapshot?.('/in'), 'files.snapshot: `query` must be an object with `service`, and is text'],
])('%s fails the run at once: %s', async (misuse, fault) => {
  const { status, error, steps } = await failWith(misuse)
  expect({ status, code: error?.code, steps }).toEqual({ status: 'failed', code: 'invalid_workflow', steps: [] })
  expect(error?.message).toContain(fault)
  expect(error?.message).toMatch(/, at test\/engine\/steps\/misused-verbs\.test\.ts:\d+:\d+\.$/)
})

test('every verb says what it lacks, and a misused one in a step is not tried again', async () => {
  const faults: string[] = []
  await failWith(({ step, files }) => {
    for (const [verb, call] of [...Object.entries(step), ...Object.entries(files)]) {
      try {
        void call()
      } catch (error) {
        faults.push(`${verb} ${error instanceof Error && error.message.includes('and is missing')}`)
      }
    }
  })
  // Only `continueAs` may have no argument.
  expect(faults).toHaveLength(13 + 10)
  expect(faults.filter((fault) => fault.endsWith('false'))).toEqual([])

  const nested = await failWith(({ step }) => step.run?.('outer', () => step.run?.(fn)))
  expect(nested).toMatchObject({ status: 'failed', steps: [{ key: 'outer', attempt: 1, status: 'failed' }] })
})

test('what TypeScript compiles is no misuse', async () => {
  const { status, output } = await failWith(async ({ step }) => [
    await step.run?.(['x', 1], fn, undefined),
    await step.run?.('y', fn, { timeout: undefined, input: null, dry: fn }),
    await step.map?.('z', new Set([1]).values(), String, fn),
    await step.sleep?.(['nap', 'now'], 0),
  ])
  expect({ status, output }).toEqual({ status: 'completed', output: '[1,1,[1],null]' })
})

test.each<[misuse: () => unknown, fault: string]>([
  [
    () => defineEvent('x', undefined as never),
    'defineEvent: `shape` must be an object, and is missing. Call it as defineEvent(type, shape)',
  ],
  [
    () => defineEvent('x', { schema: 1 } as never),
    'defineEvent: `shape` has no "schema", only data, keys, file, fromFile',
  ],
  [() => defineEvent('x', { data: {} } as never), 'defineEvent: `shape.data` must be a zod schema, and is an object'],
  [() => callable({ month: 'text' } as never), 'callable: `schema` must be a zod schema, and is an object'],
  [() => cron(undefined as never), 'cron: `expression` must be text, and is missing'],
  [() => cron('0 4 * * *', 'Europe/Berlin' as never), 'cron: `options` must be an object, and is text'],
])('%s is refused while its module is loaded: %s', (misuse, fault) => {
  expect(misuse).toThrow(fault)
})

test('an error in place of text or facts is logged', async ({ engine }) => {
  const run = async ({ log }: RunContext) => {
    log.error(new Error('lost') as never)
    log.warn('odd', new Error('facts') as never)
  }
  await engine.serve('logs', run)
  await engine.run('logs')
  expect(engine.heard.filter(({ kind }) => kind === 'run.log')).toMatchObject([
    { level: 'error', message: 'lost' },
    { level: 'warn', message: 'odd', facts: { err: { message: 'facts' } } },
  ])
})
