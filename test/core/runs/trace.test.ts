import { expect, test } from 'vitest'
import {
  callSpanIdOf,
  eventSpanIdOf,
  type RunRoot,
  runSpanIdOf,
  stepSpanIdOf,
  traceIdOf,
} from '../../../src/core/runs/trace.ts'

const EVENT: RunRoot = { kind: 'event', account: 'default', event: 'evt_1' }
const TICK: RunRoot = { kind: 'tick', schedule: 'nightly', scheduledFor: 1_800_000_000_000 }

test('the ids of a trace never change, because another process computes them anew', () => {
  expect(traceIdOf(EVENT)).toBe('a1edeeb827058ef7b2764e3e0c2b0457')
  expect(traceIdOf(TICK)).toBe('fd8b77847a00b6a353334b389c5d1f1f')
  expect(eventSpanIdOf({ account: 'default', event: 'evt_1' })).toBe('57100660edcdc03e')
  expect(runSpanIdOf('run_1')).toBe('107ed3c596faaa2e')
  expect(stepSpanIdOf('run_1', 'pay', 1)).toBe('e39c195987ea3044')
})

test('two events, accounts, ticks, runs, steps or attempts never share an id', () => {
  const traces = [
    EVENT,
    { ...EVENT, event: 'evt_2' },
    { ...EVENT, account: 'b' },
    TICK,
    { ...TICK, scheduledFor: 1_800_000_060_000 },
    { ...TICK, schedule: 'hourly' },
  ].map(traceIdOf)
  const spans = [
    eventSpanIdOf({ account: 'default', event: 'evt_1' }),
    runSpanIdOf('run_1'),
    runSpanIdOf('run_2'),
    stepSpanIdOf('run_1', 'pay', 1),
    stepSpanIdOf('run_1', 'pay', 2),
    stepSpanIdOf('run_1', 'pay1', 1),
    stepSpanIdOf('run_1pay', '', 1),
    callSpanIdOf('run_1', 'pay', 1),
  ]
  for (const trace of traces) expect(trace).toMatch(/^[\da-f]{32}$/)
  for (const span of spans) expect(span).toMatch(/^[\da-f]{16}$/)
  expect(new Set([...traces, ...spans]).size).toBe(traces.length + spans.length)
})
