import { expect, test } from 'vitest'
import { showProgress } from '../../../src/cli/terminal/progress.ts'
import { openTerminal } from '../support/fake-terminal.ts'

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
