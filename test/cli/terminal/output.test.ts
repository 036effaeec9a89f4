import { expect, test } from 'vitest'
import { readGlobalOptions } from '../../../src/cli/terminal/output.ts'
import { openTerminal } from '../support/fake-terminal.ts'

test('global options after "--" are ignored', () => {
  expect(readGlobalOptions(['rm', '--', '--yes'])).toMatchObject({ yes: false })
})

test('--ndjson prints a list as one document per row, and any other result as one document', () => {
  const { out, seen } = openTerminal(['--ndjson'])
  out.result([{ a: 1 }, { a: 2 }], () => ['never'])
  out.result({ b: 1 }, () => ['never'])
  expect(seen.stdout).toBe('{"a":1}\n{"a":2}\n{"b":1}\n')
})

test('the exit code is 7 after a command has reported a difference', () => {
  const { out } = openTerminal()
  expect(out.exit).toBe(0)
  out.leaveWith('difference')
  expect(out.exit).toBe(7)
})
