import { expect, test } from 'vitest'
import { readTerminal } from '../../../src/notices/log/read-terminal.ts'

const TERMINAL = { isTTY: true, columns: 100 }

test('a terminal tells its columns at each line, and anything else has no end', () => {
  const output = { ...TERMINAL }
  const { width } = readTerminal(output, {})
  expect(width()).toBe(100)
  output.columns = 60
  expect(width()).toBe(60)
  expect(readTerminal({}, {}).width()).toBe(Number.POSITIVE_INFINITY)
})

test.each([
  [TERMINAL, { TERM_PROGRAM: 'WezTerm' }, true],
  [TERMINAL, { VTE_VERSION: '7200' }, true],
  [TERMINAL, { TERM: 'xterm-256color' }, false],
  [TERMINAL, { TERM: 'dumb', VTE_VERSION: '7200' }, false],
  [{ isTTY: false }, { TERM_PROGRAM: 'WezTerm' }, false],
])('links are written only to a terminal that says it shows them: %j %j', (output, environment, hasLinks) => {
  expect(readTerminal(output, environment).hasLinks).toBe(hasLinks)
})
