import { expect, test } from 'vitest'
import { showProgress } from '../../../src/cli/terminal/progress.ts'
import { columnsOf } from '../../../src/notices/log/fit-text.ts'
import { openTerminal } from '../support/fake-terminal.ts'

test('a title of wide characters leaves the line as narrow as the terminal', () => {
  const { out, seen, streams } = openTerminal()
  Object.assign(streams.stderr, { columns: 40 })
  showProgress(out, { title: '移行'.repeat(30), total: 100, unit: 'count' })
  expect(columnsOf(seen.stderr)).toBe(39)
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
