import { expect, test } from 'vitest'
import { callSpanIdOf, eventSpanIdOf, runSpanIdOf, stepSpanIdOf, traceIdOf } from '../../../src/core/runs/trace.ts'
import { ManualClock } from '../../../src/core/time.ts'
import type { Span } from '../../../src/watch/traces/plan-spans.ts'
import { SpanQueue } from '../../../src/watch/traces/span-queue.ts'
import { Tracing } from '../../../src/watch/traces/tracing.ts'
import { NOTICES } from '../../notices/support/notices.ts'
import { openTestTracing } from '../support/open-test-tracing.ts'
import { NOW, runNotices } from '../support/run-notices.ts'

const ROOT = { kind: 'event', account: 'default', event: 'evt_1' } as const

test('the span of a run tells how late its code began', () => {
  const { sent, tracing } = openTestTracing()
  for (const kind of ['run.completed', 'run.failed'] as const) tracing.trace({ ...NOTICES[kind], waitedMs: 7 })
  expect(sent.map(({ attributes }) => attributes['upshot.start_delay_ms'])).toEqual([7, 7])
  expect(sent[0]).toMatchObject({ startedAt: NOW - 12, endedAt: NOW })
})

test('the waits of a call and its further requests are events of its span', () => {
  const { sent, tracing } = openTestTracing()
  const tries = [
    { waitedMs: 40, ms: 10, status: 503, reason: 'service_unavailable' },
    { waitedMs: 100, ms: 20, status: 401, reason: 'key_revoked' },
    { waitedMs: 0, ms: 20, status: 200, reason: 'ok' },
  ]
  tracing.trace({ ...NOTICES['files.called'], ms: 190, attempts: 3, waitedMs: 140, tries })
  tracing.trace(NOTICES['run.completed'])
  const begun = NOW - 190
  const why = { 'upshot.reason': 'service_unavailable' }
  expect(sent[0]).toMatchObject({ name: 'files.get', startedAt: begun })
  expect(sent[0]?.events).toEqual([
    { name: 'wait', at: begun, attributes: { 'upshot.reason': 'limit', 'upshot.waited_ms': 40 } },
    { name: 'wait', at: begun + 50, attributes: { ...why, 'upshot.waited_ms': 100 } },
    { name: 'retry', at: begun + 150, attributes: { ...why, 'upshot.request': 2 } },
    { name: 'retry', at: begun + 170, attributes: { 'upshot.reason': 'key_revoked', 'upshot.request': 3 } },
  ])
})

test('spans of a pass that another worker took over are never sent, not even at the stop', async () => {
  const { sent, tracing } = openTestTracing()
  for (const notice of runNotices().slice(2, 5)) tracing.trace(notice)
  tracing.trace(NOTICES['run.lost'])
  await tracing.stop()
  expect(sent).toEqual([])
})

test('no more than 8,192 spans wait for their passes: later ones are sent at once', () => {
  const { sent, tracing } = openTestTracing()
  for (let n = 0; n < 8_192; n++) tracing.trace({ ...NOTICES['step.completed'], step: `held ${n}` })
  expect(sent).toEqual([])
  tracing.trace({ ...NOTICES['step.completed'], step: 'one more' })
  expect(sent.map(({ name }) => name)).toEqual(['step one more'])
  tracing.trace(NOTICES['run.completed'])
  expect(sent).toHaveLength(8_192 + 2)
})

test('the traceparent of a sender is a link and never the parent', () => {
  const { sent, tracing } = openTestTracing()
  const traceparent = `00-${'a'.repeat(32)}-${'b'.repeat(16)}-01`
  tracing.trace({ ...NOTICES['delivery.received'], facts: { traceparent } })
  expect(sent).toMatchObject([
    { traceId: traceIdOf(ROOT), parentId: null, links: [{ traceId: 'a'.repeat(32), spanId: 'b'.repeat(16) }] },
  ])
})

test('an event that a step sends begins a trace of its own, and both are linked', () => {
  const { sent, tracing } = openTestTracing()
  tracing.trace({ ...NOTICES['step.completed'], sent: 'evt_2' })
  tracing.trace(NOTICES['run.completed'])
  const other = { kind: 'event', account: 'default', event: 'evt_2' } as const
  const place = { traceId: traceIdOf(other), spanId: eventSpanIdOf(other) }
  const step = { traceId: traceIdOf(ROOT), spanId: stepSpanIdOf('run_1', 'pay', 1) }
  expect(sent.slice(0, 2)).toMatchObject([
    { ...step, links: [place] },
    { ...place, parentId: null, links: [step] },
  ])
})

test('a run that repeats or forks another one is linked to it', () => {
  const { sent, tracing } = openTestTracing()
  tracing.trace({ ...NOTICES['run.completed'], root: ROOT, run: 'run_2', originRun: 'run_1' })
  expect(sent).toMatchObject([
    { spanId: runSpanIdOf('run_2'), links: [{ traceId: traceIdOf(ROOT), spanId: runSpanIdOf('run_1') }] },
  ])
})

test('an error is told by its name, without its message', () => {
  const { sent, tracing } = openTestTracing()
  tracing.trace(NOTICES['run.failed'])
  expect(sent).toMatchObject([{ error: 'Error E_NO' }])
  expect(JSON.stringify(sent)).not.toContain('declined')
})

test('a share of the traces is sent, the same in every process, and headers go with them', () => {
  const [one, other] = [openTestTracing({ ratio: 0.3 }), openTestTracing({ ratio: 0.3 })]
  for (const { tracing } of [one, other]) {
    for (let n = 0; n < 500; n++)
      for (const notice of runNotices('verify', `run_${n}`, `evt_${n}`)) tracing.trace(notice)
  }
  const traces = new Set(one.sent.map(({ traceId }) => traceId))
  expect(traces.size).toBeGreaterThan(100)
  expect(traces.size).toBeLessThan(200)
  expect(one.sent).toEqual(other.sent)
  const caller = { run: 'run_1', workflow: 'verify', root: ROOT, step: 'read', attempt: 1 }
  const { tracing } = openTestTracing()
  expect(tracing.traceparentOf(caller)).toBe(`00-${traceIdOf(ROOT)}-${callSpanIdOf('run_1', 'read', 1)}-01`)
  expect(openTestTracing({ ratio: 0 }).tracing.traceparentOf(caller)).toBeNull()
})

test('a collector that hangs costs dropped spans and two seconds at the stop, nothing more', async () => {
  const clock = new ManualClock(NOW)
  const queue = new SpanQueue({ send: () => new Promise(() => {}), clock, delayMs: 1_000, failed: () => {} })
  const tracing = new Tracing({ queue, now: () => NOW, ratio: 1 })
  for (let n = 0; n < 3_000; n++)
    for (const notice of runNotices('verify', `run_${n}`, `evt_${n}`)) tracing.trace(notice)
  // 512 are on their way, and 8,192 wait.
  expect(queue.dropped).toBe(15_000 - 512 - 8_192)
  const stopped = tracing.stop()
  clock.advance('2s')
  await stopped
  expect(queue.dropped).toBe(15_000 - 512)
})

test('spans go in batches once their delay is over, and a failure is told once', async () => {
  const clock = new ManualClock(NOW)
  const batches: number[] = []
  const faults: unknown[] = []
  let isAway = false
  const send = async (spans: readonly Span[]) => {
    if (isAway) throw new Error('away')
    batches.push(spans.length)
  }
  const queue = new SpanQueue({ send, clock, delayMs: 1_000, failed: (error) => faults.push(error) })
  const { sent, tracing } = openTestTracing()
  for (const notice of runNotices()) tracing.trace(notice)
  queue.add(sent)
  expect(batches).toEqual([])
  clock.advance('1s')
  expect(batches).toEqual([5])
  isAway = true
  for (let n = 0; n < 2; n++) {
    await new Promise(setImmediate)
    queue.add(sent)
    clock.advance('1s')
  }
  await queue.stop()
  expect(faults).toHaveLength(1)
  expect(queue.dropped).toBe(10)
})
