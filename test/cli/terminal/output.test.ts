import { existsSync } from 'node:fs'
import { stripVTControlCharacters } from 'node:util'
import { afterEach, expect, test, vi } from 'vitest'
import { readGlobalOptions } from '../../../src/cli/terminal/output.ts'
import { EXIT } from '../../../src/cli/terminal/problem.ts'
import { openTerminal } from '../support/fake-terminal.ts'

afterEach(() => void vi.restoreAllMocks())

test('global options after "--" are ignored', () => {
  expect(readGlobalOptions(['rm', '--', '--yes'])).toMatchObject({ yes: false })
})

test.each(['--json', '--ndjson'])('%s keeps a foreign text as it is, and steers no terminal with it', (form) => {
  const { out, seen } = openTerminal([form])
  const data = { 'a\u009B31m': 'b\u001B]0;x\u0007\u009D52;c\u007F\u202Ec\u2028d é😀' }
  out.result(data, () => ['never'])
  expect(seen.stdout.trimEnd()).not.toMatch(/[\p{Cc}\p{Zl}\p{Zp}\p{Bidi_Control}]/u)
  const document = JSON.parse(seen.stdout)
  expect(form === '--json' ? document.data : document).toEqual(data)
})

test('no text but its own styles steers the terminal', () => {
  const { out, seen } = openTerminal(['--verbose'])
  const bad = 'a\u001B[8mb\u001B]0;x\u0007\u009Bc\rd'
  out.result(bad, () => [`${out.paint('red', 'own')} ${bad}`])
  out.note(bad)
  out.detail(bad)
  out.fail({ code: 'internal', message: bad, fix: `upshot files ls ${bad}`, exit: EXIT.failed })
  const shown = 'a␛[8mb␛]0;x␇⟨U+009b⟩c␍d'
  expect(seen.stdout).toBe(`${out.paint('red', 'own')} ${shown}\n`)
  expect(seen.stderr.split(shown)).toHaveLength(5)
  expect(stripVTControlCharacters(seen.stderr)).not.toMatch(/[\p{Cc}--[\n]]/v)
})

test('--ndjson prints a list as one document per row, and any other result as one document', () => {
  const { out, seen } = openTerminal(['--ndjson'])
  out.result([{ a: 1 }, { a: 2 }], () => ['never'])
  out.result({ b: 1 }, () => ['never'])
  expect(seen.stdout).toBe('{"a":1}\n{"a":2}\n{"b":1}\n')
})

test('an error leads to the guide that comes with this program, wherever it was called', () => {
  const failed = { code: 'store_unavailable', message: 'The database is away.', fix: 'Start it.', exit: EXIT.temporary }
  const { out, seen } = openTerminal()
  out.fail(failed)
  expect(seen.stderr).toContain('store_unavailable, see docs/troubleshooting.md\n')

  vi.spyOn(process, 'cwd').mockReturnValue('/elsewhere')
  const elsewhere = openTerminal()
  elsewhere.out.fail(failed)
  const path = /see (\/.*docs\/troubleshooting\.md)\n/.exec(elsewhere.seen.stderr)?.[1] ?? ''
  expect(existsSync(path)).toBe(true)
})

test('advice that a message ends with is printed once', () => {
  const { out, seen } = openTerminal()
  out.fail({ code: 'store_unavailable', message: 'It is full. Free some.', fix: 'Free some.', exit: EXIT.temporary })
  expect(stripVTControlCharacters(seen.stderr).split('\n').slice(0, 2)).toEqual([
    'error: It is full.',
    '  fix: Free some.',
  ])
})
