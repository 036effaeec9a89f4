import { expect, test } from 'vitest'
import { createEraser, type Words } from '../../../src/core/safety/create-eraser.ts'

const text = (words: string): Words => ({ kind: 'text', text: words })
const path = (words: string): Words => ({ kind: 'path', text: words })

test.each<[Words, string, string]>([
  [text('Anna'), 'for anna and Anna', 'for [erased] and [erased]'],
  [text('a.b'), 'a.b, not aXb', '[erased], not aXb'],
  [text('Müller'), JSON.stringify({ name: 'Müller' }), '{"name":"[erased]"}'],
  [text('Müller'), '{"name":"M\\u00fcller"}', '{"name":"[erased]"}'],
  [text('say "hi"'), JSON.stringify(JSON.stringify({ a: 'say "hi"' })), '"{\\"a\\":\\"[erased]\\"}"'],
  [path('/in/anna.pdf'), 'deleted /in/anna.pdf', 'deleted [erased]'],
  [path('/in/anna.pdf'), '/in/anna.pdf.bak and /old/in/anna.pdf', '/in/anna.pdf.bak and /old/in/anna.pdf'],
  [path('/in/anna.pdf'), 'copy[/in/anna.pdf]', 'copy[[erased]]'],
  [path('/in/anna.pdf'), 'storage_a:/in/anna.pdf', 'storage_a:[erased]'],
  [path('/in/anna'), '{"path":"/in/anna/a b.pdf","next":"/in/annabel"}', '{"path":"[erased]","next":"/in/annabel"}'],
  [path('/in/anna/'), '["\\/in\\/anna\\/a.pdf"]', '["[erased]"]'],
])('%o is erased from %s', (words, found, left) => {
  const eraser = createEraser(words)
  expect(eraser.isIn(found)).toBe(found !== left)
  expect(eraser.erase(found)).toBe(left)
})

test('the hint is a part of every text with the words, however they are spelled', () => {
  expect(createEraser(text('Frau Müller-Lüdenscheidt')).hint).toBe('denscheidt')
  expect(createEraser(path('/in/Anna.pdf')).hint).toBe('anna')
  expect(createEraser(text('äöü')).hint).toBe(null)
})

test('names that differ stay different', () => {
  const eraser = createEraser(text('anna'))
  const code = (match: string) => match.charCodeAt(0).toString(16)
  expect(eraser.eraseName('copy[anna]', code)).toBe('copy[[erased 61]]')
  expect(eraser.eraseName('copy[Anna]', code)).toBe('copy[[erased 41]]')
})

test.each(['a', '"', '\\a'])('a number is erased beside many megabytes of %s', (sign) => {
  const note = sign.repeat(12_000_000)
  const erased = createEraser(text('48213')).erase(JSON.stringify({ note, customer: 48213 }))
  expect(erased === JSON.stringify({ note, customer: '[erased]' })).toBe(true)
})
