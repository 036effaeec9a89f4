import { expect, test } from 'vitest'
import type { Verdict } from '../../../src/core/incoming/delivery.ts'
import { eventSpanIdOf, stepSpanIdOf, traceIdOf } from '../../../src/core/runs/trace.ts'
import { ERROR, jsonOf, KINDS, linesOf, NOTICES, ROOT } from '../support/notices.ts'

test('a JSON line has flat fields', () => {
  expect(linesOf([NOTICES['run.completed']])).toEqual([
    '{"level":"info","time":"2026-05-01T12:00:01.123Z","run":"run_1","workflow":"verify-transfer",' +
      '"ms":12,"steps":3,"event":"evt_1","trace_id":"a1edeeb827058ef7b2764e3e0c2b0457",' +
      '"span_id":"107ed3c596faaa2e","message":"run completed"}\n',
  ])
  expect(jsonOf(NOTICES['delivery.received'])).toEqual([
    {
      level: 'info',
      time: '2026-05-01T12:00:01.123Z',
      message: 'delivery accepted',
      verdict: 'accepted',
      delivery: 'dlv_1',
      endpoint: 'end_1',
      endpointName: 'main',
      event: 'evt_1',
      account: 'default',
      type: 'file.created',
      subject: '/in/a.csv',
      runs: 2,
      workflows: ['verify-transfer', 'record'],
      ms: 1.5,
      skewSeconds: 1,
      matched: 0,
      header: 'X',
      reason: 'mismatch',
      contentType: 'text/html',
      contentLength: 9,
      trace_id: traceIdOf(ROOT),
      span_id: eventSpanIdOf(ROOT),
    },
  ])
})

/** Kinds of notices by the level of their line. All others are `info`. */
const LEVELS = {
  error: `
    run.failed effects.restored event.missing event.made_up sweep.ended engine.ended workflow.broken
    store.network_disk store.log_missing fault
  `,
  warn: `
    endpoint.suspect ticks.missed approval.opened run.retried effects.mode effects.awaited step.shared step.joined
    wait.changed code.pending code.timer code.undeclared step.repeated event.drifted event.unmatched
    run.lost lease.given_back runs.recovered runs.suspected memory.short slots.held step.failed
    workflows.removed workflows.elsewhere workflow.missing store.protected store.awaited
    store.standby_left files.warned files.limited variable.unknown
  `,
  debug: `
    run.queued run.started run.ready run.progress step.completed files.called sandbox.logged admin.answered
  `,
}

test('a notice of each kind has one line, whose level is known', () => {
  const levelOf = (kind: string) =>
    Object.entries(LEVELS).find(([, kinds]) => kinds.trim().split(/\s+/).includes(kind))?.[0] ?? 'info'
  for (const kind of KINDS) {
    const line = { level: levelOf(kind), message: expect.stringMatching(/\w/) }
    expect({ kind, lines: jsonOf(NOTICES[kind]) }).toMatchObject({ kind, lines: [line] })
  }
})

test('a delivery with a number that cannot be read exactly is logged as a warning', () => {
  const notice = NOTICES['delivery.received']
  expect(jsonOf({ ...notice, verdict: 'accepted', facts: { unsafeNumber: 'data.file.id' } })).toMatchObject([
    { level: 'warn', message: expect.stringContaining('2^53'), unsafeNumber: 'data.file.id' },
  ])
})

test('a run that waits for a person is logged as a warning, one that waits for a moment is not', () => {
  expect(jsonOf({ ...NOTICES['run.parked'], dueAt: null })).toMatchObject([
    { level: 'warn', message: 'run waits for a person', reason: 'sleep "grace"' },
  ])
  expect(jsonOf(NOTICES['run.parked'])).toMatchObject([{ dueAt: '2026-05-01T12:00:01.123Z' }])
})

test('the last failure of a step is told from one before it', () => {
  expect(jsonOf({ ...NOTICES['step.failed'], retryAt: null })).toMatchObject([{ message: 'step failed' }])
})

test('a step that waits for the limit of requests is no warning, and the pause of its run is detail', () => {
  const error = { ...ERROR, name: 'LocalRateLimitError' }
  const reason = 'next attempt of step "files.get[storage_a:fil_1]": no request yet'
  expect(jsonOf({ ...NOTICES['step.failed'], error })).toMatchObject([
    { level: 'info', message: 'step waits for the limit of requests', retryAt: '2026-05-01T12:00:01.123Z' },
  ])
  expect(jsonOf({ ...NOTICES['run.parked'], reason })).toMatchObject([{ level: 'debug', reason }])
})

test('a JSON line contains only the listed properties of an error', () => {
  const error = { ...ERROR, headers: { accept: 'x' }, body: 'file content', stack: 'a stack' }
  expect(jsonOf({ ...NOTICES['run.failed'], error })).toMatchObject([{ err: ERROR }])
  expect(linesOf([{ ...NOTICES['run.failed'], error }])[0]).not.toMatch(/accept|content|stack/)
})

test('a fault for want of open files names the limit to raise, and its place', () => {
  const error = { name: 'Error', message: 'a system error', code: 'EMFILE' }
  const says = expect.stringContaining('"ulimit -n"')
  expect(jsonOf({ kind: 'fault', where: 'here', error })).toMatchObject([{ message: says, where: 'here', err: error }])
})

test("a JSON line keeps an author's facts apart from our fields", () => {
  const notice = { ...NOTICES['run.log'], facts: { run: 'mine', level: 9, message: 'mine' } }
  expect(jsonOf(notice)).toMatchObject([{ run: 'run_1', level: 'info', message: 'checked', facts: { run: 'mine' } }])
})

test.each<[level: string, verdicts: Verdict[]]>([
  ['info', ['accepted', 'duplicate', 'draining']],
  ['warn', ['conflict', 'bad_signature', 'stale', 'unknown_endpoint', 'disabled', 'overloaded', 'unavailable']],
])('a line of a delivery has the level %s with the verdicts %j', (level, verdicts) => {
  const lines = verdicts.flatMap((verdict) => jsonOf({ ...NOTICES['delivery.received'], verdict }))
  expect(lines).toMatchObject(verdicts.map((verdict) => ({ level, verdict })))
})

test('a line about a step, or about its call, has the span of that attempt in the trace of the run', () => {
  const trace_id = traceIdOf(ROOT)
  expect(jsonOf(NOTICES['step.failed'])).toMatchObject([{ trace_id, span_id: stepSpanIdOf('run_1', 'pay', 1) }])
  expect(jsonOf(NOTICES['files.called'])).toMatchObject([
    { trace_id, span_id: stepSpanIdOf('run_1', 'read', 1), run: 'run_1', step: 'read', workflow: 'verify-transfer' },
  ])
})

test('a module that is broken is named with its line', () => {
  const at = [`${process.cwd()}/workflows/a.workflow.ts:7`]
  expect(jsonOf({ kind: 'workflow.broken', file: 'a.workflow.ts', error: { ...ERROR, at } })).toMatchObject([
    { file: 'a.workflow.ts', place: 'workflows/a.workflow.ts:7', message: 'workflow broken' },
  ])
})
