import fc from 'fast-check'
import { expect, test } from 'vitest'
import { redactBody, redactText } from '../../../../src/core/service/shapes/redact-body.ts'
import { emptyShape, foldBody } from '../../../../src/core/service/shapes/shape.ts'
import { formatsOf } from '../../../../src/core/service/shapes/text-shape.ts'

const key = Buffer.alloc(32, 7)

test('a text becomes another one of its formats and length, the same under one key only', () => {
  const texts = fc.oneof(
    fc.constantFrom('/in/Müller/report-2026.pdf', 'fil_8f3a1c', 'https://a.example/x?y=1', 'deadbeef01', ''),
    fc.uuid(),
    fc.string({ unit: 'grapheme' }),
  )
  fc.assert(
    fc.property(texts, (text) => {
      const redacted = redactText(text, key)
      expect(redacted).toHaveLength(text.length)
      expect(redactText(text, key)).toBe(redacted)
      for (const format of formatsOf(text).filter((each) => each !== 'url'))
        expect(formatsOf(redacted)).toContain(format)
    }),
  )
  expect(redactText('/in/report.pdf', key)).not.toBe(redactText('/in/report.pdf', Buffer.alloc(32, 8)))
})

test('a folder keeps its new name in each path, and a file its ending', () => {
  const [one = '', other = ''] = ['/in/a-report.pdf', '/in/b.PDF'].map((path) => redactText(path, key))
  expect(one.split('/')[1]).toBe(other.split('/')[1])
  expect(one).toMatch(/^\/[a-z]{2}\/[a-z]-[a-z]{6}\.pdf$/)
  expect(other).toMatch(/\.PDF$/)
})

test.each(['/home/.secret', '/home/.ssh', '.secret', 'bob@corp.smith', '12.34567'])(
  'nothing of %s is taken for the ending of a file',
  (text) => {
    const redacted = redactText(text, key)
    for (const word of text.match(/[a-z0-9]{3,}/g) ?? []) expect(redacted).not.toContain(word)
  },
)

test('words of an enumeration, numbers, moments and storages stay, and a name that is a value does not', () => {
  const bodies = Array.from({ length: 60 }, (_, n) => ({
    status: n % 2 === 0 ? 'done' : 'failed',
    note: `note of ${n}`,
    at: '2026-01-02T03:04:05Z',
    service: 'storage_a',
    size: n,
    sizes: { [`fil_${n + 10_000}`]: n },
  }))
  const shape = bodies.reduce((folded, body) => foldBody(folded, body), emptyShape())
  const redacted = redactBody(bodies[7], shape, key)
  expect(redacted).toMatchObject({ status: 'failed', at: '2026-01-02T03:04:05Z', service: 'storage_a', size: 7 })
  expect(JSON.stringify(redacted)).not.toMatch(/note of|fil_10007/)
})
