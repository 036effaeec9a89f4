import { expect, test } from 'vitest'
import { confirm } from '../../../src/cli/terminal/confirm.ts'
import { openTerminal } from '../support/fake-terminal.ts'

const intent = { will: 'delete 2 files from storage_a:/in', things: ['/in/a', '/in/b'] }

test.each([
  ['y\n', true],
  ['yes\n', true],
  ['YES\n', true],
])('a confirmation succeeds after a person has typed %j', async (answer) => {
  const { out, streams, seen } = openTerminal()
  streams.stdin.write(answer)
  expect(await confirm(out, intent, {})).toBe(true)
  expect(seen.stderr).toContain('This will delete 2 files from storage_a:/in.\n  /in/a\n  /in/b\n')
  expect(seen.stdout).toBe('')
})

test('a name that a service gave neither steers the terminal nor begins a line of its own', async () => {
  const { out, streams, seen } = openTerminal()
  streams.stdin.write('y\n')
  const things = ['storage_a:/in/a\u001B[2K\n  storage_a:/tmp/b']
  await confirm(out, { will: 'delete /in/a\u001B[2J', things }, {})
  expect(seen.stderr).toContain('This will delete /in/a␛[2J.\n  storage_a:/in/a␛[2K␊  storage_a:/tmp/b\n')
})

test.each([['n\n'], ['\n'], ['yep\n']])('a confirmation fails after a person has typed %j', async (answer) => {
  const { out, streams } = openTerminal()
  streams.stdin.write(answer)
  await expect(confirm(out, intent, {})).rejects.toMatchObject({ code: 'needs_confirmation' })
})

test('a confirmation fails if the person ends the input instead of answering', async () => {
  const { out, streams } = openTerminal()
  streams.stdin.end()
  await expect(confirm(out, intent, {})).rejects.toMatchObject({ code: 'needs_confirmation' })
})

test.each([
  ['there is no terminal', [], { isTTY: false }],
  ['--no-input is given', ['--no-input'], {}],
  ['--json is given', ['--json'], {}],
  ['--ndjson is given', ['--ndjson'], {}],
])('a confirmation asks nobody and fails if %s', async (_, args, options) => {
  const { out, streams } = openTerminal(args, options)
  streams.stdin.write('y\n')
  await expect(confirm(out, intent, {})).rejects.toMatchObject({
    code: 'needs_confirmation',
    message: 'This would delete 2 files from storage_a:/in. Nothing was done.',
  })
})

test('a confirmation asks nobody under CI, whose terminals nobody watches', async () => {
  const { out, streams } = openTerminal()
  streams.stdin.write('y\n')
  await expect(confirm(out, intent, { CI: 'true' })).rejects.toMatchObject({ code: 'needs_confirmation' })
})

test('--yes confirms silently, and --dry-run takes precedence over it', async () => {
  const agreed = openTerminal(['--yes'], { isTTY: false })
  expect(await confirm(agreed.out, intent, {})).toBe(true)
  expect(agreed.seen.stderr).toBe('')
  const dry = openTerminal(['--yes', '--dry-run'], { isTTY: false })
  expect(await confirm(dry.out, intent, {})).toBe(false)
  expect(dry.seen.stderr).toContain('/in/a')
})

test('a confirmation lists at most 20 things', async () => {
  const { out, seen } = openTerminal(['--dry-run'])
  await confirm(out, { will: 'go', things: Array.from({ length: 25 }, (_, n) => `file ${n}`) })
  expect(seen.stderr).toContain('file 19\n  … and 5 more\n')
  expect(seen.stderr).not.toContain('file 20')
})
