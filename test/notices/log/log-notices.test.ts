import { createHmac } from 'node:crypto'
import { describe, expect, it } from 'vitest'
import type { Verdict } from '../../../src/core/incoming/delivery.ts'
import type { Notice, NoticeKind, NoticeOf } from '../../../src/core/notices.ts'
import { ManualClock } from '../../../src/core/time.ts'
import { type LogOptions, logNotices } from '../../../src/notices/log/log-notices.ts'
import { createNoticeBus } from '../../../src/notices/notice-bus.ts'

const NOW = Date.UTC(2026, 4, 1, 12, 0, 1, 123)
const ERROR = { name: 'Error', message: 'declined', code: 'E_NO', at: ['pay (w.ts:1:1)'] }
const RUN = { run: 'run_1', workflow: 'verify-transfer' }

/** One notice of each kind. */
const NOTICES: { [Kind in NoticeKind]: NoticeOf<Kind> } = {
  'delivery.received': {
    kind: 'delivery.received',
    delivery: 'dlv_1',
    endpoint: 'end_1',
    verdict: 'accepted',
    event: 'evt_1',
    type: 'file.created',
    runs: 2,
    facts: { skewSeconds: 1, secret: 0, header: 'X', reason: 'mismatch', contentType: 'text/html', contentLength: 9 },
    ms: 1.5,
  },
  'endpoint.suspect': { kind: 'endpoint.suspect', endpoint: 'end_1', failures: 5, lastSuccessAt: NOW },
  'tick.recorded': { kind: 'tick.recorded', workflow: 'nightly', scheduledFor: NOW, missed: 1, run: 'run_1' },
  'run.queued': { kind: 'run.queued', count: 1 },
  'run.completed': { kind: 'run.completed', ...RUN, ms: 12, steps: 3 },
  'run.failed': { kind: 'run.failed', ...RUN, ms: 12, error: ERROR },
  'run.parked': { kind: 'run.parked', ...RUN, dueAt: NOW, reason: 'sleep "grace"', awaits: false },
  'run.limited': { kind: 'run.limited', ...RUN, dueAt: NOW, reason: 'concurrency: 4 of 4 runs are at work' },
  'run.ready': { kind: 'run.ready', ...RUN },
  'run.retried': { kind: 'run.retried', ...RUN, dueAt: NOW, error: ERROR },
  'run.skipped': { kind: 'run.skipped', ...RUN, reason: 'where' },
  'run.released': { kind: 'run.released', ...RUN },
  'run.canceled': { kind: 'run.canceled', ...RUN, reason: 'canceled by event evt_1 (file.deleted)' },
  'step.repeated': { kind: 'step.repeated', ...RUN, step: 'copy', count: 100 },
  'event.unmatched': { kind: 'event.unmatched', event: 'evt_1', type: 'file.created', key: 'file', error: ERROR },
  'run.lost': { kind: 'run.lost', ...RUN },
  'run.log': { kind: 'run.log', ...RUN, level: 'info', message: 'checked', facts: { files: 3 } },
  'runs.recovered': { kind: 'runs.recovered', count: 1 },
  'step.completed': {
    kind: 'step.completed',
    ...RUN,
    step: 'pay',
    effect: 'write',
    target: 'storage_a:fil_1',
    attempt: 1,
    ms: 3,
  },
  'step.failed': { kind: 'step.failed', ...RUN, step: 'pay', attempt: 1, retryAt: NOW, error: ERROR },
  'workflow.loaded': { kind: 'workflow.loaded', workflow: 'nightly', file: 'nightly.workflow.ts', on: '0 3 * * *' },
  'workflow.broken': { kind: 'workflow.broken', file: 'nightly.workflow.ts', error: ERROR },
  'workflows.reloaded': { kind: 'workflows.reloaded', workflows: 3, broken: 0 },
  'store.pruned': { kind: 'store.pruned', runs: 1, deliveries: 2, payloads: 3, ms: 40 },
  'files.called': {
    kind: 'files.called',
    operation: 'get',
    service: 'storage_a',
    id: 'fil_1',
    status: 200,
    outcome: 'ok',
    attempts: 1,
    ms: 3,
  },
  'files.warned': { kind: 'files.warned', service: 'storage_a', message: 'the reply has no pagination' },
  'sandbox.logged': { kind: 'sandbox.logged', message: 'a transfer began' },
  fault: { kind: 'fault', where: 'schedule of nightly', error: ERROR },
  'app.started': { kind: 'app.started', urls: { sandbox: 'http://127.0.0.1:4747/v1' } },
  'app.stopping': { kind: 'app.stopping', reason: 'SIGTERM' },
  'app.stopped': { kind: 'app.stopped' },
}
const KINDS = Object.keys(NOTICES) as NoticeKind[]

function linesOf(notices: Notice[], options: Partial<LogOptions> = {}): string[] {
  const bus = createNoticeBus()
  const faults: Notice[] = []
  const lines: string[] = []
  logNotices(bus, {
    level: 'debug',
    destination: { write: (text) => void lines.push(text) },
    clock: new ManualClock(NOW),
    ...options,
  })
  bus.subscribe('fault', (fault) => void faults.push(fault))
  for (const notice of notices) bus.publish(notice)
  expect(faults.filter((fault) => !notices.includes(fault))).toEqual([])
  return lines
}
const jsonOf = (...notices: Notice[]) => linesOf(notices).map((line) => JSON.parse(line))

describe('a JSON line', () => {
  it('says in flat fields what a unit of work was', () => {
    expect(linesOf([NOTICES['run.completed']])).toEqual([
      '{"level":"info","time":"2026-05-01T12:00:01.123Z","run":"run_1","workflow":"verify-transfer","ms":12,"steps":3,"message":"run completed"}\n',
    ])
    expect(jsonOf(NOTICES['delivery.received'])).toEqual([
      {
        level: 'info',
        time: '2026-05-01T12:00:01.123Z',
        message: 'delivery accepted',
        verdict: 'accepted',
        delivery: 'dlv_1',
        endpoint: 'end_1',
        event: 'evt_1',
        type: 'file.created',
        runs: 2,
        ms: 1.5,
        skewSeconds: 1,
        matched: 0,
        header: 'X',
        reason: 'mismatch',
        contentType: 'text/html',
        contentLength: 9,
      },
    ])
  })

  it('has one level and one message for each kind', () => {
    const said = Object.fromEntries(
      KINDS.map((kind) => [kind, jsonOf(NOTICES[kind]).map((line) => `${line.level}: ${line.message}`)]),
    )
    expect(said).toEqual({
      'delivery.received': ['info: delivery accepted'],
      'endpoint.suspect': ['warn: signatures fail since the last success: the secret may have changed at the service'],
      'tick.recorded': ['info: tick recorded'],
      'run.queued': ['debug: runs queued'],
      'run.completed': ['info: run completed'],
      'run.failed': ['error: run failed'],
      'run.parked': ['info: run parked'],
      'run.limited': ['info: run waits for its turn'],
      'run.ready': ['debug: run admitted'],
      'run.retried': ['warn: run will be tried again'],
      'run.skipped': ['info: run skipped'],
      'run.released': ['info: run released'],
      'run.canceled': ['info: run canceled'],
      'step.repeated': ['warn: a step name repeats: give each turn of a loop its key, as [name, key]'],
      'event.unmatched': ['warn: event not matched'],
      'run.lost': ['warn: run lost to another worker or a person'],
      'run.log': ['info: checked'],
      'runs.recovered': ['warn: runs of a dead worker recovered'],
      'step.completed': ['debug: step completed'],
      'step.failed': ['warn: step will be tried again'],
      'workflow.loaded': ['info: workflow loaded'],
      'workflow.broken': ['error: workflow broken'],
      'workflows.reloaded': ['info: workflows reloaded'],
      'store.pruned': ['info: store pruned'],
      'files.called': ['debug: files called'],
      'files.warned': ['warn: the reply has no pagination'],
      'sandbox.logged': ['debug: a transfer began'],
      fault: ['error: fault'],
      'app.started': ['info: started'],
      'app.stopping': ['info: stopping'],
      'app.stopped': ['info: stopped'],
    })
  })

  it.each([
    ['accepted', 'info'],
    ['duplicate', 'info'],
    ['conflict', 'warn'],
    ['bad_signature', 'warn'],
    ['stale', 'warn'],
    ['unknown_endpoint', 'warn'],
    ['disabled', 'warn'],
    ['overloaded', 'warn'],
    ['draining', 'info'],
  ] as const satisfies [Verdict, string][])('of a delivery with the verdict %s has the level %s', (verdict, level) => {
    expect(jsonOf({ ...NOTICES['delivery.received'], verdict })).toMatchObject([{ level, verdict }])
  })

  it('tells a run that waits for a person from one that waits for a moment', () => {
    expect(jsonOf({ ...NOTICES['run.parked'], dueAt: null })).toMatchObject([
      { level: 'warn', message: 'run waits for a person', reason: 'sleep "grace"' },
    ])
    expect(jsonOf(NOTICES['run.parked'])).toMatchObject([{ dueAt: '2026-05-01T12:00:01.123Z' }])
  })

  it('tells the last failure of a step from one before it', () => {
    expect(jsonOf({ ...NOTICES['step.failed'], retryAt: null })).toMatchObject([{ message: 'step failed' }])
  })

  it('holds of an error what is listed, and nothing that hangs on it', () => {
    const error = { ...ERROR, headers: { accept: 'x' }, body: 'file content', stack: 'a stack' }
    expect(jsonOf({ ...NOTICES['run.failed'], error })).toMatchObject([{ err: ERROR }])
    expect(linesOf([{ ...NOTICES['run.failed'], error }])[0]).not.toMatch(/accept|content|stack/)
  })

  it("keeps an author's facts apart from ours", () => {
    const notice = { ...NOTICES['run.log'], facts: { run: 'mine', level: 9, message: 'mine' } }
    expect(jsonOf(notice)).toMatchObject([{ run: 'run_1', level: 'info', message: 'checked', facts: { run: 'mine' } }])
  })

  const ring: Record<string, unknown> = {}
  ring.ring = ring
  it.each([
    ['a ring', () => ring],
    ['a getter that throws', () => Object.defineProperty({}, 'x', { enumerable: true, get: () => JSON.parse('') })],
    ['a bigint', () => ({ big: 1n })],
    ['an invalid date', () => ({ at: new Date('nonsense') })],
    ['an endless list', () => ({ list: Array.from({ length: 100_000 }, () => 'x'.repeat(100)) })],
    ['a binary', () => ({ body: Buffer.from('file content') })],
  ])('survives %s in facts, and stays short', (_, facts) => {
    const lines = linesOf([{ ...NOTICES['run.log'], facts: facts() }])
    expect(lines).toHaveLength(1)
    expect(lines[0]?.length).toBeLessThan(20_000)
    expect(lines[0]).not.toContain('file content')
  })
})

describe('the level', () => {
  const all = KINDS.map((kind) => NOTICES[kind])
  const levelsAt = (level: LogOptions['level']) =>
    new Set(linesOf(all, { level }).map((line) => JSON.parse(line).level as string))

  it('lets through what is at least as urgent', () => {
    expect(levelsAt('debug')).toEqual(new Set(['debug', 'info', 'warn', 'error']))
    expect(levelsAt('warn')).toEqual(new Set(['warn', 'error']))
    expect(levelsAt('error')).toEqual(new Set(['error']))
    expect(levelsAt('silent')).toEqual(new Set())
  })

  it('holds for pretty lines too', () => {
    expect(linesOf(all, { level: 'error', pretty: true })).toHaveLength(3)
  })
})

it('writes nothing after it has ended', () => {
  const bus = createNoticeBus()
  const lines: string[] = []
  logNotices(bus, { level: 'debug', destination: { write: (text) => void lines.push(text) } })()
  bus.publish(NOTICES['app.stopped'])
  expect(lines).toEqual([])
})

describe('a pretty line', () => {
  const pretty = (notice: Notice, colour = false) => linesOf([notice], { pretty: true, colour })[0] ?? ''

  it.each([
    ['run.completed', '✓ verify-transfer completed in 12 ms, 3 steps  run_1'],
    ['run.failed', '✗ verify-transfer failed in 12 ms: declined  run_1'],
    ['delivery.received', '✓ delivery accepted in 2 ms  verdict=accepted dlv_1 endpoint=end_1 evt_1 type=file.created'],
    ['step.completed', '· step completed (verify-transfer) in 3 ms  step=pay effect=write target=storage_a:fil_1'],
    ['app.started', '✓ started  sandbox=http://127.0.0.1:4747/v1'],
    ['run.log', '✓ checked (verify-transfer)  files=3 run_1'],
    ['sandbox.logged', '· a transfer began'],
  ] as const)('of %s tells it in a sentence', (kind, text) => {
    const line = pretty(NOTICES[kind])
    expect(line).toMatch(/^\d\d:\d\d:01\.123 .*\n$/)
    expect(line.slice(13)).toContain(text)
  })

  it('is coloured only where colour is wanted', () => {
    expect(pretty(NOTICES['run.completed'], true)).toContain('\u001B[32m✓\u001B[0m')
    expect(pretty(NOTICES['run.completed'])).not.toContain('\u001B')
  })

  it('stays one line that steers no terminal, whatever text comes from outside', () => {
    const message = 'first\r\nsecond \u001B[2J\u009B31m\u2028third \u202Efourth'
    const line = pretty({ ...NOTICES['run.log'], message, facts: { text: message } })
    expect(line.trimEnd()).not.toMatch(/[\p{Cc}\u2028\u202E]/u)
    expect(line).toContain('first second')
  })
})

describe('a canary', () => {
  const canary = 'q7cn9rzk4t2m8wxp'
  const secret = `whsec_${Buffer.from(`${canary}-8 bytes`).toString('base64')}`
  const hex = createHmac('sha256', canary).update('body').digest('hex')
  const base64 = createHmac('sha256', canary).update('body').digest('base64')
  const word = '0123456789abcdefghjkmnpqrstvwxyz'
  const url = `https://dl.example/d/${canary}/report.pdf?sig=${canary}&expires=1#${canary}`
  const texts = [
    url,
    `GET ${url.toUpperCase()} answered 403`,
    `{"downloadUrl":"${url}"}`,
    `https://user:${canary}@api.example/v1`,
    secret,
    `the secret: ${canary}, or so`,
    `{"secret":"${canary}"}`,
    `secret=${canary}&other=1`,
    `X-Service-Signature: ${hex}`,
    `expected ${hex}, got sha256=${hex}`,
    `t=1,v1=${hex}`,
    `v1,${base64} v1,${base64}`,
    `signature ${base64}`,
    `generated ${word}`,
    `Authorization: Bearer ${canary}`,
    `authorization: ApiKey ${canary} ${canary}`,
    `bearer ${canary}`,
    `Cookie: a=${canary}; b=${canary}`,
    `SERVICE_API_KEY=${canary}`,
    `api-key: "${canary}"`,
  ]
  const facts = {
    secret: canary,
    Signature: canary,
    'x-service-signature': canary,
    apiKey: canary,
    downloadUrl: canary,
    download_url: canary,
    deep: [{ headers: { Authorization: canary, 'Set-Cookie': [canary] }, webhookSecret: { value: canary } }],
    cause: Object.assign(new Error(`GET ${url}`), { apiKey: canary }),
    link: new URL(url),
  }
  const leaks = [canary, canary.toUpperCase(), secret, secret.slice(6), hex, base64, word]

  /** The notice with every text that is free, at any depth, replaced. */
  function poison(value: unknown, text: string): unknown {
    if (typeof value === 'string') return text
    if (Array.isArray(value)) return value.map((item) => poison(item, text))
    if (typeof value !== 'object' || value === null) return value
    return Object.fromEntries(
      Object.entries(value).map(([name, item]) => [name, FIXED.has(name) ? item : poison(item, text)]),
    )
  }
  const FIXED = new Set(['kind', 'level', 'verdict', 'effect', 'urls'])

  it.each(KINDS)('in any free text of %s appears in no line', (kind) => {
    for (const text of texts) {
      const notice = poison(NOTICES[kind], text) as Notice
      const lines = [...linesOf([notice]), ...linesOf([notice], { pretty: true })]
      expect(lines).toHaveLength(2)
      for (const leak of leaks) expect(lines.join(''), `${leak} of: ${text}`).not.toContain(leak)
    }
  })

  it('in facts appears in no line, whatever the depth', () => {
    const notice = { ...NOTICES['run.log'], facts: { ...facts, more: { and: { more: facts } } } }
    const lines = [...linesOf([notice]), ...linesOf([notice], { pretty: true })]
    for (const leak of leaks) expect(lines.join('')).not.toContain(leak)
    expect(lines[0]).toContain('"secret":"[redacted]"')
  })

  it('leaves the rest of a text readable', () => {
    const message = `GET ${url} answered 403 for storage_a:fil_1 of run_0123456789abcdefghjkmnp`
    expect(jsonOf({ ...NOTICES['run.log'], message })[0].message).toBe(
      'GET https://dl.example/… answered 403 for storage_a:fil_1 of run_0123456789abcdefghjkmnp',
    )
  })
})
