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

test('a notice of each kind has one level and one message', () => {
  const said = Object.fromEntries(
    KINDS.map((kind) => [kind, jsonOf(NOTICES[kind]).map((line) => `${line.level}: ${line.message}`)]),
  )
  expect(said).toEqual({
    'delivery.received': ['info: delivery accepted'],
    'endpoint.suspect': [
      'warn: signatures have failed since the last success: the secret may have changed at the service',
    ],
    'ticks.missed': ['warn: moments of the schedule passed while no scheduler ran'],
    'tick.recorded': ['info: tick recorded'],
    'schedule.changed': ['info: schedule changed by a run'],
    'run.queued': ['debug: runs queued'],
    'run.started': ['debug: run started'],
    'run.completed': ['info: run completed'],
    'run.failed': ['error: run failed'],
    'run.parked': ['info: run parked'],
    'approval.opened': ['warn: people have to decide'],
    'approval.closed': ['info: approval ended'],
    'run.limited': ['info: run waits for its turn'],
    'run.ready': ['debug: run admitted'],
    'run.retried': ['warn: run will be tried again'],
    'run.skipped': ['info: run skipped'],
    'run.planned': ['info: run planned'],
    'run.progress': ['debug: run goes on'],
    'effects.restored': [
      'error: ALL EFFECTS ARE STOPPED: the database was replaced by a backup. See "upshot guard show"',
    ],
    'effects.mode': ['warn: NOTHING ACTS HERE: UPSHOT_EFFECTS=plan, runs are only planned'],
    'run.released': ['info: run released'],
    'run.canceled': ['info: run canceled'],
    'step.shared': ['warn: two branches use one step name at the same time: give each its key, as [name, key]'],
    'step.joined': ['warn: the function of the run returned before this step had ended: await every step'],
    'wait.changed': ['warn: an open wait keeps its event, though the code asks for another: rename the step'],
    'code.pending': ['warn: the run has to wait while its code awaits something outside steps: put that into a step'],
    'code.timer': ['warn: a timer outside steps does not survive a pause: use step.sleep, or put it into a step'],
    'code.undeclared': ['warn: the code acts where no step declares it: put that into a step with its effect'],
    'step.repeated': ['warn: a step name repeats: give each turn of a loop its key, as [name, key]'],
    'event.drifted': ['warn: shape of the event is new'],
    'event.missing': ['error: an event was lost: no delivery told of the file'],
    'event.made_up': ['error: an event was lost, and is made up'],
    'sweep.ended': ['error: sweep of a storage ended'],
    'event.unmatched': ['warn: event not matched'],
    'run.lost': ['warn: run taken over by another worker or a person'],
    'lease.given_back': ['warn: run given back: the answer to its claim was lost'],
    'run.log': ['info: checked'],
    'runs.recovered': ['warn: runs of a dead worker recovered'],
    'runs.suspected': ['warn: runs were at work when their worker died: each is tried alone'],
    'engine.ended': ['error: the engine ended and is started again'],
    'memory.short': ['warn: memory is short: runs get a tenth of the slots'],
    'memory.enough': ['info: memory is enough again: runs get all slots'],
    'step.completed': ['debug: step completed'],
    'step.failed': ['warn: step will be tried again'],
    'workflow.loaded': ['info: workflow loaded'],
    'workflow.broken': ['error: workflow broken'],
    'workflows.reloaded': ['info: workflows reloaded'],
    'workflows.removed': ['warn: workflows removed: no module defines them, so their events start no run any more'],
    'workflows.elsewhere': ['warn: workers disagree: another one has workflows that this folder lacks, and they stay'],
    'workflow.missing': [
      'warn: runs wait for a workflow that no worker at work has: bring its module back, or cancel them',
    ],
    'effects.anchored': ['info: effects anchored'],
    'store.pruned': ['info: store pruned'],
    'store.protected': ['warn: other users of this machine could read the data of the app: only its owner can now'],
    'store.awaited': ['warn: waiting for the database'],
    'store.network_disk': [
      'error: the database is on a network file system: a crash may cost events. See "upshot doctor"',
    ],
    'store.log_missing': [
      'error: the log of the database is missing after a crash: the newest events and runs may be lost. ' +
        'Stop, bring the file back if it was moved, and start again',
    ],
    'store.standby_left': ['warn: lists come from the primary until the standby can answer them'],
    'store.standby_back': ['info: lists come from the standby again'],
    'files.called': ['debug: files called'],
    'files.warned': ['warn: the reply has no pagination'],
    'sandbox.logged': ['debug: a transfer began'],
    'admin.answered': ['debug: admin request answered'],
    'alert.sent': ['info: alert sent'],
    fault: ['error: fault'],
    'app.started': ['info: started'],
    'app.stopping': ['info: stopping'],
    'app.stopped': ['info: stopped'],
  })
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

test('a JSON line contains only the listed properties of an error', () => {
  const error = { ...ERROR, headers: { accept: 'x' }, body: 'file content', stack: 'a stack' }
  expect(jsonOf({ ...NOTICES['run.failed'], error })).toMatchObject([{ err: ERROR }])
  expect(linesOf([{ ...NOTICES['run.failed'], error }])[0]).not.toMatch(/accept|content|stack/)
})

test("a JSON line keeps an author's facts apart from our fields", () => {
  const notice = { ...NOTICES['run.log'], facts: { run: 'mine', level: 9, message: 'mine' } }
  expect(jsonOf(notice)).toMatchObject([{ run: 'run_1', level: 'info', message: 'checked', facts: { run: 'mine' } }])
})

test.each([
  ['accepted', 'info'],
  ['duplicate', 'info'],
  ['conflict', 'warn'],
  ['bad_signature', 'warn'],
  ['stale', 'warn'],
  ['unknown_endpoint', 'warn'],
  ['disabled', 'warn'],
  ['overloaded', 'warn'],
  ['unavailable', 'warn'],
  ['draining', 'info'],
] as const satisfies [Verdict, string][])(
  'a line of a delivery with the verdict %s has the level %s',
  (verdict, level) => {
    expect(jsonOf({ ...NOTICES['delivery.received'], verdict })).toMatchObject([{ level, verdict }])
  },
)

test('a line about a step, or about its call, has the span of that attempt in the trace of the run', () => {
  const trace_id = traceIdOf(ROOT)
  expect(jsonOf(NOTICES['step.failed'])).toMatchObject([{ trace_id, span_id: stepSpanIdOf('run_1', 'pay', 1) }])
  expect(jsonOf(NOTICES['files.called'])).toMatchObject([
    { trace_id, span_id: stepSpanIdOf('run_1', 'read', 1), run: 'run_1', step: 'read', workflow: 'verify-transfer' },
  ])
})
