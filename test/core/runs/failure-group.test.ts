import { expect, test } from 'vitest'
import { groupFailure } from '../../../src/core/runs/failure-group.ts'

const masked = (message: string) => groupFailure('w', { name: 'Error', message }).message

test.each([
  ['run run_1m81jpf3j0001arc35991kc of evt_01JABCDEF9 is gone', 'run <id> of <id> is gone'],
  ['429 on GET /files/fil_9?x=1 after 3 attempts', '<n> on GET <path> after <n> attempts'],
  ['cannot read storage_a:/in/q3/ledger-6431.json: gone', 'cannot read <path>: gone'],
  ['the hash d41d8cd98f00b204e9800998ecf8427e differs', 'the hash <id> differs'],
  ['6f1b4c2e-8a57-4a0e-9c55-0d5a3f1b2c3d is taken', '<id> is taken'],
  ['expired at 2026-06-01T12:00:00.123Z', 'expired at <time>'],
  ['cannot open "/data/a b.csv" now', 'cannot open "<value>" now'],
  ["ENOENT: no such file or directory, open '/tmp/x/9.txt'", "ENOENT: no such file or directory, open '<value>'"],
  [
    'step "copy to A" failed after 2 attempts: GET /a answered 409: "locked"',
    'step "copy to A" failed after <n> attempts: GET <path> answered <n>: "locked"',
  ],
  ["the customer's file /a/b isn't there", "the customer's file <path> isn't there"],
  ['took 3,141 ms and 2.5 s', 'took <n> ms and <n> s'],
  ['report-june.pdf is empty', '<file> is empty'],
  ['first line\nsecond line', 'first line'],
  ['fetch https://files.example/v1/a?sig=1 failed', 'fetch <url> failed'],
])('%j is masked as %j', (message, expected) => {
  expect(masked(message)).toBe(expected)
})

test.each([
  'step "download" failed after the last attempt',
  "Cannot read properties of undefined (reading 'mail')",
  'the service answered HTTP 503',
  'sha256 does not fit utf8',
])('%j stays as it is: its words tell failures apart', (message) => {
  expect(masked(message)).toBe(message)
})

test('failures of one kind share a group, whatever file and key they are about', () => {
  const kind = (step: string, message: string) => groupFailure('verify', { name: 'TypeError', message, step })
  const first = kind('hash[fil_1]', 'file fil_1 has 12 bytes')
  expect(first).toMatchObject({
    step: 'hash',
    workflow: 'verify',
    name: 'TypeError',
    message: 'file <id> has <n> bytes',
  })
  expect(first.id).toMatch(/^grp_[\da-z]{10}$/)
  expect(kind('hash#2', 'file fil_27 has 9 bytes').id).toBe(first.id)
  expect(kind('copy[fil_1]', 'file fil_1 has 12 bytes').id).not.toBe(first.id)
  expect(kind('hash[fil_1]', 'file fil_1 is gone').id).not.toBe(first.id)
})

test('an HTTP status stays in a message, because each status needs another answer', () => {
  expect(masked('HTTP 404 for fil_1')).toBe('HTTP 404 for <id>')
  expect(masked('HTTP 503 for fil_1')).not.toBe(masked('HTTP 404 for fil_1'))
})
