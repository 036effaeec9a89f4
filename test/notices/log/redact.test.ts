import { createHmac } from 'node:crypto'
import { expect, test } from 'vitest'
import type { Notice } from '../../../src/core/notices.ts'
import { KnownSecrets } from '../../../src/notices/log/redact.ts'
import { base64, canary, facts, jsonOf, KINDS, linesOf, NOTICES, secret, url } from '../support/notices.ts'

const hex = createHmac('sha256', canary).update('body').digest('hex')

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
  `got sha256=${hex}`,
  `t=1,v1=${hex}`,
  `v1,${base64} v1,${base64}`,
  `signature ${base64}`,
  `key sk_live_${canary}`,
  `Authorization: Bearer ${canary}`,
  `authorization: ApiKey ${canary} ${canary}`,
  `bearer ${canary}`,
  `Cookie: a=${canary}; b=${canary}`,
  `SERVICE_API_KEY=${canary}`,
  `api-key: "${canary}"`,
]

const leaks = [canary, canary.toUpperCase(), secret, secret.slice(6), hex, base64]

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

test('ids and hashes stay: a secret is known by itself or by the name before it', () => {
  const id = 'run_1m81jpf3j0001arc35991kc'
  const message = `${id} wrote sha256 ${hex} for evt_01JZZZZZZZZZZZZZZZZZZZZZZZ, base64 ${base64}`
  const [line] = jsonOf({ ...NOTICES['run.log'], message, facts: { hash: hex, checksum: base64, id } })
  expect(line.message).toBe(message)
  expect(line.facts).toEqual({ hash: hex, checksum: base64, id })
})

test('a secret that the app knows is redacted wherever it stands, in each of its forms', () => {
  const secrets = new KnownSecrets()
  const odd = 'pa/ss+wo"rd="'
  secrets.replace([`whsec_${base64}`, 'plainwordsecret', odd, ''])
  const texts = [base64, 'a plainwordsecret b', encodeURIComponent(odd), JSON.stringify(odd), odd, 'PLAINWORDSECRET']
  for (const text of texts) {
    const notice = { ...NOTICES['run.log'], message: text, facts: { note: text, [text]: [text] } }
    const lines = [...linesOf([notice], { secrets }), ...linesOf([notice], { secrets, pretty: true })]
    expect(lines.join('')).toContain('[redacted]')
    for (const leak of [base64, 'plainwordsecret', odd, encodeURIComponent(odd)]) {
      expect(lines.join('').toLowerCase(), text).not.toContain(leak.toLowerCase())
    }
  }
  const cut = linesOf([{ ...NOTICES['run.log'], message: 'plainwordsecret'.padStart(4_008, ' .') }], { secrets })
  expect(cut.join('')).not.toContain('plainw')
})
