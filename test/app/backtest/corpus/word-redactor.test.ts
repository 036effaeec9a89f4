import { expect, test } from 'vitest'
import { redactWords, WordRedactor } from '../../../../src/app/backtest/corpus/redact-words.ts'
import { describeTarget } from '../../../../src/engine/steps/wait-step.ts'
import { tempFolder } from '../../../support/temp-folder.ts'

const words = new WordRedactor(Buffer.alloc(32, 7), ['endsWith(".tmp"), look', 'notes'])
const redact = (text: string) => words.redact(text)

test('a composed text is composed of the replacements of its parts, in any case', () => {
  const [folder, name, id] = ['Invoices of Anna', 'Müller-2026', 'fil_9f3k2']
  expect(redact(`/${folder}/${name}.tmp`)).toBe(`/${redact(folder)}/${redact(name)}.tmp`)
  expect(redact(`look[storage_a:${id}]#12`)).toBe(`look[storage_a:${redact(id)}]#12`)
  expect(redact(folder.toLowerCase())).toBe(redact(folder).toLowerCase())
  expect(redact(folder)).toMatch(/^[A-Z][a-z]{7} [a-z]{2} [A-Z][a-z]{3}$/)
  expect(redact(id)).toMatch(/^fil_\d[a-z]\d[a-z]\d$/)
  expect(redact(`${folder} ${name}`)).not.toMatch(/invoices|anna|müller/i)
})

test('different words stay different, also where they are short', () => {
  const short = Array.from({ length: 26 ** 2 }, (_, n) => String.fromCharCode(97 + (n % 26), 97 + Math.floor(n / 26)))
  expect(new Set(short.map(redact)).size).toBe(short.length)
  const numbers = Array.from({ length: 900 }, (_, n) => String(n + 100))
  expect(new Set(numbers.map(redact)).size).toBe(numbers.length)
})

test('moments, storages, ids of runs, numbers of two digits and kept words stay', () => {
  for (const text of [
    '2026-01-02T03:04:05.678Z',
    '2026-01-02',
    'storage_b',
    'run_1kejk7s00006ak000000',
    '42',
    'Notes.TMP',
  ])
    expect(redact(text)).toBe(text)
})

test('a hash stays a hash, and without the key nothing can be computed', () => {
  const hash = 'a9f0c3d1e2b44f6688aa'
  expect(redact(hash)).toMatch(/^[0-9a-f]{20}$/)
  expect(redact(hash)).not.toBe(hash)
  expect(new WordRedactor(Buffer.alloc(32, 8), []).redact(hash)).not.toBe(redact(hash))
})

test('the target of a wait is that of the replaced values, so that the recorded event answers it', () => {
  const { name } = redactWords({ workflowsDir: tempFolder(), spellings: {} }, [], Buffer.alloc(32, 7))
  const target = (path: string, id: string) => describeTarget({ on: 'file', where: { path, id } })
  expect(name(target('/in/anna', 'x7'))).toBe(target(name('/in/anna'), name('x7')))
})

test('the names that accounts give to storages stay, or no event would fit its definition', () => {
  const spellings = { default: { storage_a: 'Team Docs' }, second: { storage_c: ['sync', 'cloudsync'] } }
  const { text } = redactWords({ workflowsDir: tempFolder(), spellings }, [], Buffer.alloc(32, 7))
  for (const name of ['Team Docs', 'team_docs', 'cloudsync']) expect(text(name)).toBe(name)
})
