import { basename } from 'node:path'
import { expect, test } from 'vitest'
import { readDecisions, readList } from './pages.ts'

const decisions = readDecisions()

const MAX_LINES = 30

test('decisions are numbered from 1 on, without a gap', () => {
  const numbers = decisions.map(({ name, text }) => [basename(name).slice(0, 3), /^# (\d+)\. /.exec(text)?.[1]])
  const expected = decisions.map((_, index) => [String(index + 1).padStart(3, '0'), String(index + 1)])
  expect(numbers).toEqual(expected)
})

test.each(decisions)('$name says what is decided, why, instead of what, and which tests hold it', ({ text }) => {
  const parts = [...text.matchAll(/^\*\*([A-Z][a-z ]+):\*\* /gm)].map(([, part]) => part)
  expect(parts.filter((part) => part !== 'Measured')).toEqual(['Decided', 'Because', 'Instead of', 'Held by'])
  expect(text.slice(text.indexOf('**Held by:**'))).toMatch(/`test\/[\w./-]+\.ts`/)
  expect(text.split('\n').length).toBeLessThanOrEqual(MAX_LINES)
})

test.each(decisions)('$name names the command that measures its figures again', ({ text }) => {
  const measured = /\*\*Measured:\*\*([\s\S]*?)\n\n/.exec(text)?.[1]
  if (measured !== undefined) expect(measured).toMatch(/`npm run bench -- --only [\w.]+`/)
})

test('the list of decisions links each once, by its number and with its title', () => {
  const linked = [...readList().matchAll(/^- \[(\d{3})\]\(([^)]+)\): (.*)\.$/gm)].sort()
  const expected = decisions.map(({ name, text }) => {
    const title = /^# \d+\. (.*)$/m.exec(text)?.[1]
    return [basename(name).slice(0, 3), basename(name), title]
  })
  expect(linked.map(([, ...each]) => each)).toEqual(expected)
})
