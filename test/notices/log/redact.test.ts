import { createHmac } from 'node:crypto'
import { expect, test } from 'vitest'
import type { Notice } from '../../../src/core/notices.ts'
import { base64, canary, facts, jsonOf, KINDS, linesOf, NOTICES, secret, url } from '../support/notices.ts'

const hex = createHmac('sha256', canary).update('body').digest('hex')

const word = '0123456789abcdefghjkmnpqrstvwxyz'

const texts = [
  url,
  `GET ${url.toUpperCase()} answered 403`,
  `{"downloadUrl":"${url}"}`,
  `https://user:${canary}@api.example/v1`,
  secret,
  `the secret: ${canary}, or so`,
  `{"secret":"${canary}"}`,
  `secret=${canary}&other=1`,
  `X-Service-Signature: ${hex}`,
  `expected ${hex}, got sha256=${hex}`,
  `t=1,v1=${hex}`,
  `v1,${base64} v1,${base64}`,
  `signature ${base64}`,
  `generated ${word}`,
  `Authorization: Bearer ${canary}`,
  `authorization: ApiKey ${canary} ${canary}`,
  `bearer ${canary}`,
  `Cookie: a=${canary}; b=${canary}`,
  `SERVICE_API_KEY=${canary}`,
  `api-key: "${canary}"`,
]

const leaks = [canary, canary.toUpperCase(), secret, secret.slice(6), hex, base64, word]

/** The notice with every text that is free, at any depth, replaced. */
function poison(value: unknown, text: string): unknown {
  if (typeof value === 'string') return text
  if (Array.isArray(value)) return value.map((item) => poison(item, text))
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(
    Object.entries(value).map(([name, item]) => [name, FIXED.has(name) ? item : poison(item, text)]),
  )
}

const FIXED = new Set(['kind', 'level', 'verdict', 'effect', 'urls'])

const ring: Record<string, unknown> = {}
ring.ring = ring

test.each(KINDS)('a secret in any free text of %s is redacted', (kind) => {
  for (const text of texts) {
    const notice = poison(NOTICES[kind], text) as Notice
    const lines = [...linesOf([notice]), ...linesOf([notice], { pretty: true })]
    expect(lines).toHaveLength(2)
    for (const leak of leaks) expect(lines.join(''), `${leak} of: ${text}`).not.toContain(leak)
  }
})

test('a secret in facts is redacted at every depth', () => {
  const notice = { ...NOTICES['run.log'], facts: { ...facts, more: { and: { more: facts } } } }
  const lines = [...linesOf([notice]), ...linesOf([notice], { pretty: true })]
  for (const leak of leaks) expect(lines.join('')).not.toContain(leak)
  expect(lines[0]).toContain('"secret":"[redacted]"')
})

test('redaction leaves the rest of a text readable', () => {
  const message = `GET ${url} answered 403 for storage_a:fil_1 of run_0123456789abcdefghjkmnp`
  expect(jsonOf({ ...NOTICES['run.log'], message })[0].message).toBe(
    'GET https://dl.example/… answered 403 for storage_a:fil_1 of run_0123456789abcdefghjkmnp',
  )
})

test.each([
  ['a ring', () => ring],
  ['a getter that throws', () => Object.defineProperty({}, 'x', { enumerable: true, get: () => JSON.parse('') })],
  ['a bigint', () => ({ big: 1n })],
  ['an invalid date', () => ({ at: new Date('nonsense') })],
  ['an endless list', () => ({ list: Array.from({ length: 100_000 }, () => 'x'.repeat(100)) })],
  ['a binary', () => ({ body: Buffer.from('file content') })],
])('a line survives %s in facts and stays short', (_, facts) => {
  const lines = linesOf([{ ...NOTICES['run.log'], facts: facts() }])
  expect(lines).toHaveLength(1)
  expect(lines[0]?.length).toBeLessThan(20_000)
  expect(lines[0]).not.toContain('file content')
})
