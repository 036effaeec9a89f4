import { expect, test } from 'vitest'
import { describeProblem } from '../../../src/cli/terminal/problem.ts'
import { UpshotError } from '../../../src/core/errors.ts'
import * as files from '../../../src/files/index.ts'

const facts = { operation: 'list', service: 'storage_a' } as const

test.each([
  [new UpshotError('key_refused', 'no'), 'key_refused', 4],
  [new UpshotError('not_found', 'no'), 'not_found', 5],
  [new files.AbortedError('no', facts), 'aborted', 130],
  [new DOMException('no', 'AbortError'), 'aborted', 130],
  [new UpshotError('store_unavailable', 'no'), 'store_unavailable', 6],
  [new Error('no'), 'internal', 1],
  ['no', 'internal', 1],
])('the error %s has the code %s and exit code %i', (error, code, exit) => {
  expect(describeProblem(error)).toEqual({ code, exit, message: 'no', fix: expect.stringMatching(/\S/) })
})

test('a rate limit error has the time of a useful retry', () => {
  const error = new UpshotError('too_many_requests', 'full', { details: { retryAt: Date.UTC(2026, 0, 1) } })
  expect(describeProblem(error)).toMatchObject({ exit: 6, retryAt: '2026-01-01T00:00:00.000Z' })
})

test("an error's own advice is used, and the query of a URL in its message is removed", () => {
  const error = new UpshotError('conflict', 'https://host/file?key=1 is taken.', { details: { fix: 'Take another.' } })
  expect(describeProblem(error)).toMatchObject({ fix: 'Take another.', message: 'https://host/file?… is taken.' })
})

test('a message that says what to do gets no other advice', () => {
  const fixOf = (message: string) => describeProblem(new UpshotError('invalid_request', message))?.fix
  expect(fixOf('"Berln" is not a time zone. Use a name such as "Europe/Berlin".')).toBe(
    'Use a name such as "Europe/Berlin".',
  )
  expect(fixOf('The port 99999 is none')).toMatch(/--help/)
  const full = new UpshotError('invalid_config', 'Port 4700 is taken. Stop the other program.')
  expect(describeProblem(full)?.fix).toBe('Stop the other program.')
})

test('a path of another kind, or of another user, is the fault of who named it', () => {
  const error = Object.assign(new Error("EISDIR: illegal operation on a directory, open 'a'"), {
    code: 'EISDIR',
    syscall: 'open',
    path: 'a',
  })
  expect(describeProblem(error)).toMatchObject({
    code: 'invalid_request',
    exit: 2,
    fix: expect.stringContaining('path'),
  })
})

test.each([
  ['EMFILE', 'open'],
  ['ENOENT', 'spawn git'],
])('the error %s of %s has a path, and is no fault of it', (code, syscall) => {
  const error = Object.assign(new Error('no'), { code, syscall, path: 'git' })
  expect(describeProblem(error)).toMatchObject({ code: 'internal', exit: 1 })
})
