import { PassThrough } from 'node:stream'
import { expect, test } from 'vitest'
import { confirm } from '../../../src/cli/terminal/confirm.ts'
import { createOutput, readGlobalOptions } from '../../../src/cli/terminal/output.ts'
import { describeProgress, showProgress } from '../../../src/cli/terminal/progress.ts'

function terminal(args: string[] = [], { isTTY = true } = {}) {
  const streams = { stdin: new PassThrough(), stdout: new PassThrough(), stderr: new PassThrough() }
  for (const stream of Object.values(streams)) Object.assign(stream, { isTTY })
  const seen = { stdout: '', stderr: '' }
  streams.stdout.on('data', (chunk) => (seen.stdout += chunk))
  streams.stderr.on('data', (chunk) => (seen.stderr += chunk))
  return { out: createOutput(readGlobalOptions(args), streams), streams, seen }
}

const intent = { will: 'delete 2 files from storage_a:/in', things: ['/in/a', '/in/b'] }

test.each([
  ['y\n', true],
  ['yes\n', true],
  ['YES\n', true],
])('goes on after a person has typed %j', async (answer) => {
  const { out, streams, seen } = terminal()
  streams.stdin.write(answer)
  expect(await confirm(out, intent, {})).toBe(true)
  expect(seen.stderr).toContain('This will delete 2 files from storage_a:/in.\n  /in/a\n  /in/b\n')
  expect(seen.stdout).toBe('')
})

test.each([['n\n'], ['\n'], ['yep\n']])('does nothing after a person has typed %j', async (answer) => {
  const { out, streams } = terminal()
  streams.stdin.write(answer)
  await expect(confirm(out, intent, {})).rejects.toMatchObject({ code: 'needs_confirmation' })
})

test('does nothing where the person leaves instead of answering', async () => {
  const { out, streams } = terminal()
  streams.stdin.end()
  await expect(confirm(out, intent, {})).rejects.toMatchObject({ code: 'needs_confirmation' })
})

test.each([
  ['there is no terminal', [], { isTTY: false }],
  ['--no-input is given', ['--no-input'], {}],
  ['--json is given', ['--json'], {}],
  ['--ndjson is given', ['--ndjson'], {}],
])('asks nobody and does nothing where %s', async (_, args, options) => {
  const { out, streams } = terminal(args, options)
  streams.stdin.write('y\n')
  await expect(confirm(out, intent, {})).rejects.toMatchObject({
    code: 'needs_confirmation',
    message: 'This would delete 2 files from storage_a:/in. Nothing was done.',
  })
})

test('asks nobody under CI, whose terminals nobody watches', async () => {
  const { out, streams } = terminal()
  streams.stdin.write('y\n')
  await expect(confirm(out, intent, { CI: 'true' })).rejects.toMatchObject({ code: 'needs_confirmation' })
})

test('--yes goes on without a word, and --dry-run stays even beside it', async () => {
  const agreed = terminal(['--yes'], { isTTY: false })
  expect(await confirm(agreed.out, intent, {})).toBe(true)
  expect(agreed.seen.stderr).toBe('')
  const dry = terminal(['--yes', '--dry-run'], { isTTY: false })
  expect(await confirm(dry.out, intent, {})).toBe(false)
  expect(dry.seen.stderr).toContain('/in/a')
})

test('takes no global option from behind "--"', () => {
  expect(readGlobalOptions(['rm', '--', '--yes'])).toMatchObject({ yes: false })
})

test('lists no more things than can be read', async () => {
  const { out, seen } = terminal(['--dry-run'])
  await confirm(out, { will: 'go', things: Array.from({ length: 25 }, (_, n) => `file ${n}`) })
  expect(seen.stderr).toContain('file 19\n  … and 5 more\n')
  expect(seen.stderr).not.toContain('file 20')
})

test('says how far it is, and how long it will take', () => {
  expect(describeProgress({ title: 'Reading', done: 1_500, total: 6_000, unit: 'bytes', ms: 2_000 })).toBe(
    `Reading  [${'█'.repeat(6)}${'·'.repeat(18)}]  25 %  1.5 kB of 6.0 kB, 6.0 s left`,
  )
  expect(describeProgress({ title: 'Reading', done: 3, total: null, unit: 'count', ms: 1 })).toBe('Reading  3')
  expect(describeProgress({ title: 'Reading', done: 0, total: 0, unit: 'count', ms: 1 })).toContain('100 %')
})

test('draws on one line of a terminal, seldom, and takes it away before other words', () => {
  const { out, seen } = terminal()
  let now = 0
  const progress = showProgress(out, { title: 'Reading', total: 100, unit: 'count', now: () => now })
  for (now = 0; now < 80; now++) progress.set(now)
  expect(seen.stderr.split('\r')).toHaveLength(1)
  progress.set(99)
  out.note('a word')
  progress.end()
  expect(seen.stderr.endsWith('\r\u001B[2Ka word\n')).toBe(true)
})

test.each([
  ['no terminal', [], { isTTY: false }],
  ['--quiet', ['--quiet'], {}],
  ['--json', ['--json'], {}],
])('draws nothing with %s', (_, args, options) => {
  const { out, seen } = terminal(args, options)
  showProgress(out, { title: 'Reading', total: 1, unit: 'count' }).set(1)
  expect(seen.stderr).toBe('')
})

test('prints a list as a document per row, and anything else as one document', () => {
  const { out, seen } = terminal(['--ndjson'])
  out.result([{ a: 1 }, { a: 2 }], () => ['never'])
  out.result({ b: 1 }, () => ['never'])
  expect(seen.stdout).toBe('{"a":1}\n{"a":2}\n{"b":1}\n')
})

test('leaves with 7 once a difference was found', () => {
  const { out } = terminal()
  expect(out.exit).toBe(0)
  out.leaveWith('difference')
  expect(out.exit).toBe(7)
})
