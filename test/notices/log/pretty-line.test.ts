import stringWidth from 'string-width'
import { expect, test } from 'vitest'
import type { Notice } from '../../../src/core/notices.ts'
import { ManualClock } from '../../../src/core/time.ts'
import { logNotices, planRepetition } from '../../../src/notices/log/log-notices.ts'
import { formatPrettyLine, prettyLines } from '../../../src/notices/log/pretty-line.ts'
import { createNoticeBus } from '../../../src/notices/notice-bus.ts'
import { collectLog } from '../../support/collect-log.ts'
import { ERROR, type LinesOptions, linesOf, NOTICES, NOW } from '../support/notices.ts'

const pretty = (notice: Notice, colour = false) => linesOf([notice], { pretty: true, colour })[0] ?? ''

test.each([
  ['step.completed', '· step completed (verify-transfer) in 3 ms  step=pay effect=write target=storage_a:fil_1'],
  ['app.started', '✓ started  sandbox=http://127.0.0.1:4747/v1'],
  ['workflows.removed', 'start no run any more  workflows=nightly'],
  ['sandbox.logged', '· a transfer began'],
] as const)('a pretty line of %s is a sentence', (kind, text) => {
  const line = pretty(NOTICES[kind])
  expect(line).toMatch(/^\d\d:\d\d:01\.123 .*\n$/)
  expect(line.slice(13)).toContain(text)
})

test('a pretty line is coloured only where colour is wanted', () => {
  expect(pretty(NOTICES['run.completed'], true)).toContain('\u001B[32m✓\u001B[0m')
  expect(pretty(NOTICES['run.completed'])).not.toContain('\u001B')
})

test('a pretty line stays one line and steers no terminal, whatever foreign text it contains', () => {
  const message = 'first\r\nsecond \u001B[2J\u009B31m\u2028\u202Ethird'
  const line = pretty({ ...NOTICES['run.log'], message, facts: { text: '\u001B[2J\n' } })
  expect(line.trimEnd()).not.toMatch(/[\p{Cc}\u2028\u202E]/u)
  expect(line).toContain('first second')
})

/** The lines after their time of day. */
const tell = (notices: Notice[], options: LinesOptions = {}) =>
  linesOf(notices, { pretty: true, ...options }).flatMap((text) =>
    text
      .trimEnd()
      .split('\n')
      .map((line) => line.slice(13)),
  )

test('a delivery is one line: its type, the end of the path, the workflows that it started', () => {
  const subject = '/a/very/long/path/that/nobody/reads/to/its/end/q3/ledger-6431.json'
  const [line = ''] = tell([{ ...NOTICES['delivery.received'], subject }], { level: 'info' })
  expect(line).toMatch(/^✓ file\.created {8}….*\/q3\/ledger-6431\.json {2}→ verify-transfer, record {2,}2 ms$/)
})

test('a delivery that starts nothing says why', () => {
  const notice: Notice = { ...NOTICES['delivery.received'], verdict: 'duplicate', workflows: [], runs: 0 }
  expect(tell([notice])[0]).toMatch(/^✓ file\.created +\/in\/a\.csv {2}known already +2 ms {2}dlv_…lv_1$/)
})

test('the end of a run is one line with a bar of its steps', () => {
  const step = (ms: number): Notice => ({ ...NOTICES['step.completed'], ms })
  const lines = tell([step(1), step(100), step(50), NOTICES['run.completed']], { level: 'info' })
  expect(lines).toHaveLength(1)
  expect(lines[0]).toMatch(/^✓ verify-transfer {5}▕▏█▋ 3 steps +12 ms {2}run_…un_1$/)
})

test("a failure is two lines: its step and error, then the author's frame and the command to act", () => {
  const at = [
    'charge (file:///srv/node_modules/x/a.js:1:1)',
    `tour (file://${process.cwd()}/workflows/tour.workflow.ts:15:9)`,
  ]
  const message = 'step "tell the owner" failed after 2 attempts: declined'
  const error = { ...ERROR, message, step: 'tell the owner', at }
  const lines = tell([{ ...NOTICES['run.failed'], error }])
  expect(lines[0]).toMatch(/^✗ verify-transfer {5}tell the owner: declined +12 ms$/)
  expect(lines[1]).toBe('at workflows/tour.workflow.ts:15   upshot runs retry run_1')
  const narrow = tell([{ ...NOTICES['run.failed'], error }], { width: () => 60 }).slice(-2)
  expect(narrow).toEqual(['at workflows/tour.workflow.ts:15', 'upshot runs retry run_1'])
})

test('a frame is a link only where the terminal shows links', () => {
  const error = { ...ERROR, at: ['tour (/srv/shop/workflows/tour.workflow.ts:15:9)'] }
  const linked = tell([{ ...NOTICES['run.failed'], error }], { hasLinks: true })[1]
  expect(linked).toContain('\u001B]8;;file:///srv/shop/workflows/tour.workflow.ts\u001B\\')
  expect(tell([{ ...NOTICES['run.failed'], error }])[1]).not.toContain('\u001B')
})

test('an address that is wider than the terminal stays behind its name', () => {
  const urls = { 'endpoint main': `http://127.0.0.1:4700/hooks/${'a'.repeat(60)}` }
  expect(tell([{ ...NOTICES['app.started'], urls }], { width: () => 60 })[1]?.trim()).toBe(
    `endpoint main=${urls['endpoint main']}`,
  )
})

test.each([
  ['run.skipped', '⇥ verify-transfer     skipped: where'],
  ['run.canceled', '⊘ verify-transfer     canceled by event evt_1 (file.deleted)'],
  ['run.limited', '◷ verify-transfer     waits for its turn: concurrency: 4 of 4 runs are at work, until '],
  ['run.parked', '◷ verify-transfer     sleep "grace", until '],
  ['run.released', '✓ verify-transfer     released'],
  ['run.log', '✓ verify-transfer     checked files=3'],
  ['step.failed', '! verify-transfer     pay: declined, again at '],
  ['run.retried', '! verify-transfer     declined, again at '],
  ['tick.recorded', '✓ nightly             tick of '],
] as const)('a line of %s is in columns, with the name of its workflow', (kind, text) => {
  const lines = tell([NOTICES[kind]])
  expect(lines).toHaveLength(1)
  expect(lines[0]?.slice(0, text.length)).toBe(text)
})

test('a run that gathers, and one that gave way, are one line each at a hundred columns', () => {
  const reason = `batch: 1 of 10000, until ${new Date(NOW).toISOString()}`
  const skipped = { ...NOTICES['run.skipped'], reason: 'folded into run_1m8khmhsh002y00sz6f8zh9' }
  const told = [{ ...NOTICES['run.limited'], dueAt: NOW, reason }, skipped]
  const lines = tell(told, { width: () => 100 }).slice(-2)
  expect(lines[0]).toMatch(/^◷ verify-transfer {5}batch: 1 of 10000, until \d\d:\d\d:01 +run_…un_1$/)
  expect(lines[1]).toMatch(/^⇥ verify-transfer {5}skipped: folded into run_…8zh9 /)
})

test('a moment has its date where it is not of today', () => {
  const parked = (dueAt: number) => tell([{ ...NOTICES['run.parked'], dueAt }])[0]
  expect(parked(NOW)).toMatch(/until \d\d:\d\d:01 /)
  expect(parked(NOW + 2 * 86_400_000)).toMatch(/until 2026-05-03 \d\d:\d\d /)
})

test('a run that waits for people is told with its reason and the command to act', () => {
  const [waits, command] = tell([{ ...NOTICES['run.parked'], dueAt: null, reason: 'diverged' }])
  expect([waits, command]).toEqual(['☞ verify-transfer     waits for a person: diverged', 'upshot runs show run_1'])
  expect(tell([NOTICES['approval.opened']])[1]).toBe('upshot approvals show apr_1')
})

test('a pause between attempts is not told again after the line of its step', () => {
  const reason = 'next attempt of step "pay": declined'
  expect(tell([NOTICES['step.failed'], { ...NOTICES['run.parked'], reason }], { level: 'info' })).toHaveLength(1)
})

test('a refusal says why, by the name of its endpoint, and many like it are one line with their number', () => {
  const facts = { reason: 'missing_header', header: 'X-Signature' }
  const refused: Notice = { ...NOTICES['delivery.received'], verdict: 'bad_signature', event: null, type: null, facts }
  const clock = new ManualClock(NOW)
  const lines: string[] = []
  const bus = createNoticeBus()
  logNotices(bus, { level: 'info', lines: prettyLines({ clock }), destination: collectLog(lines), clock })
  for (let n = 0; n < 51; n++) bus.publish(refused)
  expect(lines).toHaveLength(10)
  expect(lines[0]).toMatch(/! main {16}refused: bad signature, missing header, X-Signature +2 ms {2}dlv_…lv_1\n$/)
  clock.advance('10s')
  expect(lines.slice(10)).toEqual([expect.stringMatching(/! main {16}refused ×41: bad signature, missing header/)])
})

test('a fault that repeats is one line with its number', () => {
  const line = planRepetition({ level: 'error', message: 'fault', fields: { err: ERROR } }, 299)
  const options = { now: NOW, colour: false, width: 100, hasLinks: false, bar: () => '' }
  expect(formatPrettyLine(line, options).slice(13)).toBe('✗ fault ×299: declined\n')
})

test('names and times stand in the same columns in every line, and paths keep their ends', () => {
  const subject = '/inbox/2026/numbers/日本語のファイル名はとても長いですね.csv'
  const delivery = { ...NOTICES['delivery.received'], subject, workflows: ['intake-new-file', 'record', 'verify'] }
  const notices: Notice[] = [delivery, NOTICES['run.completed'], NOTICES['run.canceled'], NOTICES['run.failed']]
  for (const [columns, end] of [
    [80, 80],
    [100, 89],
  ] as const) {
    const lines = linesOf(notices, { pretty: true, level: 'info', width: () => columns }).map(
      (text) => text.split('\n')[0] ?? '',
    )
    expect(lines.map((line) => stringWidth(line.slice(0, line.indexOf(' ms') + 3)))).toEqual([end, end, end, end])
    expect(lines[0]).toMatch(/…\S*ですね\.csv {2}→ intake-new-file/)
  }
})

test('a loaded workflow says what it starts on, and names its module only where that has another name', () => {
  const notice: Notice = { kind: 'workflow.loaded', workflow: 'tour', file: 'tour.workflow.ts', on: 'file.created' }
  expect(tell([notice])).toEqual(['✓ tour loaded, on file.created'])
  expect(tell([{ ...notice, file: 'other.workflow.ts' }])).toEqual([
    '✓ tour loaded, on file.created  file=other.workflow.ts',
  ])
})

test('a sentence that is wider than the terminal goes on below itself, its fields whole', () => {
  const urls = { receiver: 'http://127.0.0.1:4700', sandbox: 'http://127.0.0.1:4747', storages: '/srv/data/storages' }
  const lines = tell([{ ...NOTICES['app.started'], urls }], { width: () => 80 })
  expect(lines).toEqual([
    '✓ started',
    '  receiver=http://127.0.0.1:4700 sandbox=http://127.0.0.1:4747',
    '  storages=/srv/data/storages',
  ])
})

test.each([60, 80, 100, 140])('no line of a terminal of %d columns is wider than it', (columns) => {
  const message = 'a'.repeat(300)
  // The seal of an anchor is an address of its own, and stays whole.
  const { 'effects.anchored': _, ...all } = NOTICES
  const notices: Notice[] = [
    ...Object.values(all),
    { ...NOTICES['delivery.received'], subject: `/${'b'.repeat(200)}`, workflows: ['c'.repeat(100)] },
    { ...NOTICES['delivery.received'], subject: `/${'本'.repeat(200)}` },
    { ...NOTICES['run.failed'], workflow: 'd'.repeat(100), error: { name: 'Error', message } },
    { ...NOTICES['run.log'], message: 'e '.repeat(200), facts: { first: 'f'.repeat(30), second: 'g g '.repeat(60) } },
    { ...NOTICES['run.skipped'], reason: 'h '.repeat(200) },
    { ...NOTICES.fault, where: 'i '.repeat(200) },
  ]
  const lines = linesOf(notices, { pretty: true, level: 'info', width: () => columns })
  expect(lines.length).toBeGreaterThan(40)
  const wide = lines.flatMap((text) => text.trimEnd().split('\n')).filter((line) => stringWidth(line) > columns)
  expect(wide).toEqual([])
})
