import { expect } from 'vitest'
import { z } from 'zod'
import { defineWorkflow } from '../../../src/author/define-workflow.ts'
import type { StepApi } from '../../../src/author/steps/step-api.ts'
import { callable } from '../../../src/author/trigger.ts'
import { hostileValues } from '../../support/hostile-values.ts'
import { createTestEngine, test } from '../../support/test-engine.ts'
import { define } from '../../support/workflows.ts'

/** Ends a run whose code is one call, and returns it with the times that its effects happened. */
async function runOnce(call: (step: StepApi, effect: () => void) => unknown) {
  const engine = createTestEngine()
  let effects = 0
  await engine.serve('w', ({ step }) => call(step, () => void effects++))
  return { engine, run: await engine.run('w'), effects: () => effects }
}

const child = defineWorkflow({ id: 'child', on: callable(z.unknown()), run: () => 1 })

test.each<[string, (step: StepApi, effect: () => void) => unknown, RegExp]>([
  ['a pause of NaN', (step, fn) => step.run('a', fn, { retry: { min: Number.NaN } }), /Step "a": retry\.min: "NaN"/],
  ['an endless pause', (step, fn) => step.run('a', fn, { retry: { max: Infinity } }), /Step "a": retry\.max: /],
  ['NaN attempts', (step, fn) => step.run('a', fn, { retry: { attempts: Number.NaN } }), /Step "a": retry\.attempts: /],
  ['half an attempt', (step, fn) => step.run('a', fn, { retry: { attempts: 1.5 } }), /Step "a": retry\.attempts: /],
  ['a timeout of NaN', (step, fn) => step.run('a', fn, { timeout: Number.NaN }), /Step "a": timeout: "NaN"/],
  [
    'a negative timeout',
    (step, fn) => step.map('a', ['x'], String, fn, { timeout: -1 }),
    /Step "a\[x\]": timeout: "-1"/,
  ],
  ['a sleep of NaN', (step) => step.sleep('a', Number.NaN), /Step "a": "NaN" is not a duration/],
  ['an endless sleep', (step) => step.sleep('a', Infinity), /Step "a": "Infinity" is not a duration/],
  ['an invalid date', (step) => step.sleepUntil('a', new Date(Number.NaN)), /Step "a": "Invalid Date" is not a moment/],
  ['an endless wait', (step) => step.waitFor('a', { on: 'x.y', timeout: Infinity }), /Step "a": timeout: "Infinity"/],
  ['a child without end', (step) => step.invoke('a', child, 1, { timeout: 9e15 }), /Step "a": timeout: .* is too long/],
])('%s fails the run before its step begins', async (_, call, message) => {
  const { engine, run, effects } = await runOnce(call)
  expect(run).toMatchObject({ status: 'failed', error: { code: expect.stringMatching(/^invalid_/) } })
  expect(run.error?.message).toMatch(message)
  expect(effects()).toBe(0)
  expect(await engine.store.listSteps(run.id)).toEqual([])
})

test('a step with a bad duration holds no slot, so that a run that catches its error can end', async () => {
  const { run, effects } = await runOnce(async (step, effect) => {
    await step.run('bad', effect, { retry: { min: 'soon' as never } }).catch(() => {})
    await step.sleep('nap', 100_000 / 3)
  })
  expect(run).toMatchObject({ status: 'waiting', reason: 'sleeps in step "nap"' })
  expect(effects()).toBe(0)
})

test.each([
  ['a third', 100_000 / 3, 33_334],
  ['a tenth of a second', '0.1s', 100],
  ['2.3 hours', '2.3h', 8_280_000],
] as const)('a sleep of %s ends at a whole millisecond, rounded up', async (_, duration, ms) => {
  const { engine, run } = await runOnce((step) => step.sleep('nap', duration))
  expect(run.dueAt).toBe(engine.clock.now() + ms)
  expect(await engine.advance(run.id, ms)).toMatchObject({ status: 'completed' })
})

const ring: { self?: unknown } = {}
ring.self = ring
const angry = {
  toJSON: () => {
    throw new Error('not me')
  },
}

test.each([
  ['a circular result', ring, /circular/],
  ['a bigint', 1n, /BigInt/],
  ['a result whose toJSON throws', angry, /not me/],
  ['a Map', new Map([['file', 1]]), /"a" is of class Map, .* Use Object\.fromEntries\(map\)/],
  ['a Set deep in a result', { found: [{ ids: new Set(['file']) }] }, /"a" holds "ids", which is of class Set/],
])('%s fails its step at once, because its effect has happened', async (_, result, why) => {
  const { run, effects } = await runOnce((step, effect) =>
    step.run('a', () => {
      effect()
      return result as never
    }),
  )
  expect(run).toMatchObject({ status: 'failed', error: { code: 'output_not_json', step: 'a' } })
  expect(run.error?.message).toMatch(/The result of step "a" (is|holds)/)
  expect(run.error?.message).toMatch(why)
  expect(effects()).toBe(1)
})

const revoked = Proxy.revocable({}, {})
revoked.revoke()

test('a result that cannot be looked at fails its step at once', async () => {
  const { run, effects } = await runOnce((step, effect) =>
    step.run('a', () => {
      effect()
      return revoked.proxy as never
    }),
  )
  expect(run).toMatchObject({ status: 'failed', error: { code: 'output_not_json', step: 'a' } })
  expect(effects()).toBe(1)
})

test.each(hostileValues)('%s fails a step and a run as any error does', async (_, make) => {
  const engine = createTestEngine()
  let tries = 0
  const fail = () => {
    tries += 1
    throw make()
  }
  await engine.start([
    define('step', ({ step }) => step.run('a', fail, { retry: { attempts: 1 } })),
    define('once', ({ step }) => step.run('a', fail, { once: true })),
    define('code', { retry: { attempts: 1 } }, fail),
  ])
  expect(await engine.run('step')).toMatchObject({ status: 'failed', error: { step: 'a' } })
  expect(await engine.run('once', 'evt_2')).toMatchObject({ status: 'failed', error: { step: 'a' } })
  expect(await engine.run('code', 'evt_3')).toMatchObject({ status: 'failed' })
  expect(tries).toBe(3)
})

test.each<[string, (step: StepApi, effect: () => void) => unknown, string]>([
  [
    'the input of another workflow',
    (step) => step.invoke('a', child, 1n),
    'Step "a": the input of "child" is not JSON',
  ],
  ['an event', (step) => step.send('a', 'x.y', { size: 1n }), 'Step "a": its event is not JSON'],
  ['the result of a run', () => 1n, 'The result of the run is not JSON'],
])('%s that JSON refuses fails the run at once', async (_, call, message) => {
  const { run } = await runOnce(call)
  expect(run).toMatchObject({ status: 'failed', error: { code: 'output_not_json' } })
  expect(run.error?.message).toContain(message)
})

test.each<[string, (step: StepApi, effect: () => void) => unknown]>([
  ['half a character in a name', (step, fn) => step.run('a\ud800', fn)],
  ['half a character in a key', (step, fn) => step.run(['a', '\udc00'], fn)],
  ['half a character in the key of an item', (step, fn) => step.map('a', ['\ud800'], String, fn)],
  [
    'half a character in a value of where',
    (step) => step.waitFor('a', { on: 'x.y', where: { id: '\ud800' }, timeout: 1 } as never),
  ],
  ['the character 0 in a name', (step, fn) => step.run('a\0', fn)],
  ['the character 0 in a key', (step, fn) => step.run(['a', '\0'], fn)],
])('%s fails the run before its step begins', async (_, call) => {
  const { run, effects } = await runOnce(call)
  expect(run).toMatchObject({ status: 'failed', error: { code: 'invalid_workflow' } })
  expect(run.error?.message).toMatch(/lone surrogate|the character 0/)
  expect(effects()).toBe(0)
})
