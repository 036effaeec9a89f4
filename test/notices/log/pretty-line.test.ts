import { expect, test } from 'vitest'
import type { Notice } from '../../../src/core/notices.ts'
import type { LogOptions } from '../../../src/notices/log/log-notices.ts'
import { ERROR, linesOf, NOTICES } from '../support/notices.ts'

const pretty = (notice: Notice, colour = false) => linesOf([notice], { pretty: true, colour })[0] ?? ''

test.each([
  ['step.completed', '· step completed (verify-transfer) in 3 ms  step=pay effect=write target=storage_a:fil_1'],
  ['app.started', '✓ started  sandbox=http://127.0.0.1:4747/v1'],
  ['run.log', '✓ checked (verify-transfer)  files=3 run_1'],
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
  const message = 'first\r\nsecond \u001B[2J\u009B31m\u2028third \u202Efourth'
  const line = pretty({ ...NOTICES['run.log'], message, facts: { text: message } })
  expect(line.trimEnd()).not.toMatch(/[\p{Cc}\u2028\u202E]/u)
  expect(line).toContain('first second')
})

/** The lines after their time of day. */
const tell = (notices: Notice[], options: Partial<LogOptions> = {}) =>
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
  expect(tell([notice])[0]).toMatch(/^✓ file\.created +\/in\/a\.csv {2}known already +2 ms {2}dlv_1$/)
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
  const error = { ...ERROR, step: 'tell the owner', at }
  const lines = tell([{ ...NOTICES['run.failed'], error }])
  expect(lines[0]).toMatch(/^✗ verify-transfer {5}tell the owner: declined +12 ms$/)
  expect(lines[1]).toBe('at workflows/tour.workflow.ts:15   upshot runs retry run_1')
})

test('a frame is a link only where the terminal shows links', () => {
  const error = { ...ERROR, at: ['tour (/srv/shop/workflows/tour.workflow.ts:15:9)'] }
  const linked = tell([{ ...NOTICES['run.failed'], error }], { hasLinks: true })[1]
  expect(linked).toContain('\u001B]8;;file:///srv/shop/workflows/tour.workflow.ts\u001B\\')
  expect(tell([{ ...NOTICES['run.failed'], error }])[1]).not.toContain('\u001B')
})

test('a skipped run is one line that says why', () => {
  const reason = 'its `where` returned false'
  expect(tell([{ ...NOTICES['run.skipped'], reason }])[0]).toMatch(
    /^✓ verify-transfer {5}skipped: its `where` returned/,
  )
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
  const notices: Notice[] = [
    { ...NOTICES['delivery.received'], subject: `/${'b'.repeat(200)}`, workflows: ['c'.repeat(100)] },
    NOTICES['run.completed'],
    { ...NOTICES['run.failed'], workflow: 'd'.repeat(100), error: { name: 'Error', message } },
    { ...NOTICES['run.log'], message: 'e '.repeat(200), facts: { first: 'f'.repeat(30), second: 'g'.repeat(30) } },
    { ...NOTICES['run.skipped'], reason: 'h'.repeat(200) },
  ]
  const lines = linesOf(notices, { pretty: true, level: 'info', width: () => columns })
  for (const line of lines.flatMap((text) => text.trimEnd().split('\n')))
    expect(line.length).toBeLessThanOrEqual(columns)
})
