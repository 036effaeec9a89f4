import { expect, test } from 'vitest'
import { describeProgress, showProgress } from '../../../src/cli/terminal/progress.ts'
import { openTerminal } from '../support/fake-terminal.ts'

test('progress shows the done part and the remaining time', () => {
  expect(describeProgress({ title: 'Reading', done: 1_500, total: 6_000, unit: 'bytes', ms: 2_000 })).toBe(
    `Reading  [${'█'.repeat(6)}${'·'.repeat(18)}]  25 %  1.5 kB of 6.0 kB, 6.0 s left`,
  )
  expect(describeProgress({ title: 'Reading', done: 3, total: null, unit: 'count', ms: 1 })).toBe('Reading  3')
  expect(describeProgress({ title: 'Reading', done: 0, total: 0, unit: 'count', ms: 1 })).toContain('100 %')
})

test('progress redraws one line at most every 80 ms, and removes it before other output', () => {
  const { out, seen } = openTerminal()
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
])('progress draws nothing with %s', (_, args, options) => {
  const { out, seen } = openTerminal(args, options)
  showProgress(out, { title: 'Reading', total: 1, unit: 'count' }).set(1)
  expect(seen.stderr).toBe('')
})
