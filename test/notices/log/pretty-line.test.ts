import { expect, test } from 'vitest'
import type { Notice } from '../../../src/core/notices.ts'
import { linesOf, NOTICES } from '../support/notices.ts'

const pretty = (notice: Notice, colour = false) => linesOf([notice], { pretty: true, colour })[0] ?? ''

test.each([
  ['run.completed', '✓ verify-transfer completed in 12 ms, 3 steps  run_1'],
  ['run.failed', '✗ verify-transfer failed in 12 ms: declined  run_1'],
  [
    'delivery.received',
    '✓ delivery accepted in 2 ms  evt_1 verdict=accepted dlv_1 endpoint=end_1 account=default type=file.created',
  ],
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
