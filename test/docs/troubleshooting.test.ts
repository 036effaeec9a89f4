import { globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import * as files from '../../src/files/index.ts'
import { ROOT } from './pages.ts'

const page = readFileSync(join(ROOT, 'docs/troubleshooting.md'), 'utf8')
const [, reasons = '', codes = ''] = page.split(/^## (?:Reasons|Error codes).*$/m)

test('docs/troubleshooting.md has each error code of Upshot, and each error of the Files API', () => {
  const source = readFileSync(join(ROOT, 'src/core/errors.ts'), 'utf8')
  const own = [...source.matchAll(/^ {2}(\w+): \{ status: \d+/gm)].map(([, code]) => code)
  const ofFiles = Object.keys(files).filter((name) => /.Error$/.test(name))
  expect(own.length).toBeGreaterThan(30)
  expect([...own, ...ofFiles].filter((code) => !codes.includes(`\`${code}\``))).toEqual([])
})

/** Code that gives a reason to a run that waits: a call, a constant, a property of an outcome. */
const REASONS = [
  /parking\.wait\(\s*\w+,\s*[\w.]+,\s*([`'][^`'\n]+[`'])/g,
  /parking\.halt\(\s*([`'][^\n]+[`'])/g,
  /(?:reason[:=]|const reason =)\s*([`'].+[`'])/g,
  /(?:_REASON|MADE_TO_ACT|DIVERGED) = ([`'].+[`'])/g,
  /return \(?\s*(`(?:diverged|concurrency|throttle|it calls)[^\n]+`)/g,
  /\? (`it ended its worker [^`]+`)/g,
]

/** Files in which runs come to wait; previews and ends of runs have reasons of their own. */
const PLACES = [
  'src/engine/{admit,claim,execute,pass,steps}/*.ts',
  'src/core/runs/{admission,blame,retry,run,step}.ts',
  'src/store/tables/limits/permits.ts',
]

/** Beginnings of reasons of runs that have ended, or never began, and of notices. */
const OTHERS = ['its where', 'made up for by', 'it would be ', 'approval ', 'the step of run', 'asks in approval']
const isOther = (reason: string) =>
  OTHERS.some((start) => reason.startsWith(start, 1)) ||
  /^.(?:singleton: (replaced|\$\{holder)|\$\{NEXT_ATTEMPT_REASON)/.test(reason)

test('docs/troubleshooting.md has each reason for which a run waits', () => {
  const found = globSync(PLACES, { cwd: ROOT }).flatMap((file) => {
    const text = readFileSync(join(ROOT, file), 'utf8').replaceAll('\\`', '')
    return REASONS.flatMap((shape) => [...text.matchAll(shape)].map(([, reason = '']) => reason))
  })
  expect(found.length).toBeGreaterThan(20)
  const plain = reasons.replaceAll('`', '')
  const missing = found.filter((reason) => !isOther(reason) && !plain.includes(fixedPart(reason)))
  expect(missing).toEqual([])
})

/** The longest piece of a template between its values. */
function fixedPart(reason: string): string {
  const pieces = reason.slice(1, -1).split(/\$\{(?:[^{}]|\{[^}]*\})*\}/)
  return pieces.toSorted((one, other) => other.length - one.length)[0]?.trim() ?? ''
}
