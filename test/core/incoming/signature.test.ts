import { execFileSync } from 'node:child_process'
import { Webhook } from 'standardwebhooks'
import { describe, expect, it } from 'vitest'
import {
  type HeaderLookup,
  SCHEME_PRESETS,
  type SignatureScheme,
  signBody,
  verifySignature,
} from '../../../src/core/incoming/signature.ts'
import { signatureScheme } from '../../../src/core/incoming/signature-scheme.ts'

const SECRET = 'a secret of at least 24 bytes'
const NOW = Date.UTC(2026, 0, 1)
const SECONDS = NOW / 1000
/** Not UTF-8 all the way, with a line break at its end: bytes, not text, are signed. */
const BODY = Buffer.concat([Buffer.from('{"id":"evt_1","name":"Grüße"}\n'), Buffer.from([0, 0xff, 0xfe])])

/** The signature as openssl makes it. */
function openssl(algorithm: string, key: string | Buffer, signed: Buffer, encoding: 'hex' | 'base64' = 'hex'): string {
  const hexKey = `hexkey:${Buffer.from(key).toString('hex')}`
  const args = ['dgst', `-${algorithm}`, '-mac', 'HMAC', '-macopt', hexKey, '-binary']
  return execFileSync('openssl', args, { input: signed }).toString(encoding)
}

/** The first value of a header that came once, as the receiver looks it up. */
function lookup(headers: Record<string, string>): HeaderLookup {
  const lower = new Map(Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value]))
  return (name) => lower.get(name)
}

function verify(
  scheme: SignatureScheme,
  headers: Record<string, string>,
  part: { secrets?: string[]; body?: Buffer } = {},
) {
  const { secrets = [SECRET], body = BODY } = part
  return verifySignature(scheme, secrets, { header: lookup(headers), body }, NOW)
}

const signed = (prefix: string) => Buffer.concat([Buffer.from(prefix), BODY])

describe('verifySignature with openssl', () => {
  it.each(['sha256', 'sha512', 'sha1'] as const)(
    'a %s signature by openssl is accepted in hex and base64',
    (algorithm) => {
      for (const encoding of ['hex', 'base64'] as const) {
        const scheme = signatureScheme.parse({ algorithm, encoding })
        const headers = { 'X-Service-Signature': openssl(algorithm, SECRET, BODY, encoding) }
        expect(verify(scheme, headers)).toEqual({ kind: 'valid', secret: 0, skewSeconds: null })
      }
    },
  )

  it.each([
    ['hex', 'hex', Buffer.alloc(32, 7).toString('hex')],
    ['base64', 'base64', Buffer.alloc(32, 7).toString('base64')],
    ['base64 without padding', 'base64', Buffer.alloc(32, 7).toString('base64').replace('=', '')],
    ['base64 behind whsec_', 'base64', `whsec_${Buffer.alloc(32, 7).toString('base64')}`],
  ] as const)('a signature is accepted when the secret is written as %s', (_, form, secret) => {
    const scheme = signatureScheme.parse({ secret: form })
    const headers = { 'X-Service-Signature': openssl('sha256', Buffer.alloc(32, 7), BODY) }
    expect(verify(scheme, headers, { secrets: [secret] })).toMatchObject({ kind: 'valid' })
  })
})

describe('verifySignature with published vectors', () => {
  it("GitHub's example of a webhook is accepted", () => {
    const mac = '757107ea0eb2509fc211221cce984b8a37570b6d7586c22c46f4379c8b043e17'
    const part = { secrets: ["It's a Secret to Everybody"], body: Buffer.from('Hello, World!') }
    const headers = { 'X-Service-Signature': `sha256=${mac}` }
    expect(verify(SCHEME_PRESETS['sha256-prefix'], headers, part)).toMatchObject({ kind: 'valid' })
  })
})

describe('Standard Webhooks', () => {
  const scheme = SCHEME_PRESETS['standard-webhooks']
  const secret = `whsec_${Buffer.alloc(24, 9).toString('base64')}`
  const body = Buffer.from('{"id":"evt_1","name":"Grüße"}')
  const library = new Webhook(secret)

  it('a signature by the Standard Webhooks library is accepted', () => {
    const headers = {
      'webhook-id': 'msg_1',
      'webhook-timestamp': `${SECONDS}`,
      'webhook-signature': `v1a,else ${library.sign('msg_1', new Date(NOW), body)}`,
    }
    const part = { secrets: ['', 'whsec_', secret], body }
    expect(verify(scheme, headers, part)).toEqual({ kind: 'valid', secret: 2, skewSeconds: 0 })
  })
})

describe('signBody', () => {
  it.each([
    ['hex', '', (mac: string) => mac],
    ['sha256-prefix', '', (mac: string) => `sha256=${mac}`],
    ['timestamped', `${SECONDS}.`, (mac: string) => `t=${SECONDS},v1=${mac}`],
  ] as const)('signBody signs for the preset %s as openssl does', (preset, prefix, write) => {
    expect(signBody(SCHEME_PRESETS[preset], SECRET, { id: 'evt_1', body: BODY }, NOW)).toEqual({
      'X-Service-Signature': write(openssl('sha256', SECRET, signed(prefix))),
    })
  })

  it('signBody refuses a secret that is not a key of the scheme', () => {
    const scheme = signatureScheme.parse({ secret: 'hex' })
    expect(() => signBody(scheme, 'not hex', { id: 'evt_1', body: BODY }, NOW)).toThrow(/not written as hex/)
  })
})

describe('verifySignature refuses', () => {
  const scheme = SCHEME_PRESETS.hex
  const good = openssl('sha256', SECRET, BODY)

  it('a delivery is refused when its endpoint has no secret', () => {
    expect(verify(scheme, { 'X-Service-Signature': good }, { secrets: [] })).toMatchObject({ reason: 'mismatch' })
  })

  it.each([
    ['utf8', ''],
    ['base64', 'whsec_'],
    ['hex', 'a long secret, but in no way hexadecimal'],
    ['base64', '?? a long secret, but in no way base64 ??'],
  ] as const)('a delivery signed with the remains of a bad %s secret is refused: %j', (form, secret) => {
    // openssl takes no empty key. A zero byte at its end changes nothing, because HMAC pads keys
    // with zeros.
    const left = Buffer.concat([Buffer.from(secret.replace('whsec_', ''), form), Buffer.alloc(1)])
    const headers = { 'X-Service-Signature': openssl('sha256', left, BODY) }
    expect(verify(signatureScheme.parse({ secret: form }), headers, { secrets: [secret] })).toMatchObject({
      reason: 'mismatch',
    })
  })

  it.each([
    ['cut short', good.slice(0, -1)],
    ['too long', `${good}0`],
    ['in upper case', good.toUpperCase()],
    ['of another encoding', Buffer.from(good, 'hex').toString('base64')],
    ['twice in one header', `${good}, ${good}`],
    ['not ASCII', 'ß'.repeat(64)],
  ])('a delivery with a signature that is %s is refused', (_, mac) =>
    expect(verify(scheme, { 'X-Service-Signature': mac })).toMatchObject({ kind: 'invalid', reason: 'mismatch' }),
  )

  it.each([-301, 301])('a delivery signed %d seconds ago is stale', (skew) => {
    const headers = signBody(SCHEME_PRESETS.timestamped, SECRET, { id: 'evt_1', body: BODY }, NOW - skew * 1000)
    expect(verify(SCHEME_PRESETS.timestamped, headers)).toEqual({ kind: 'stale', skewSeconds: skew })
    const near = signBody(
      SCHEME_PRESETS.timestamped,
      SECRET,
      { id: 'evt_1', body: BODY },
      NOW - Math.sign(skew) * 300_000,
    )
    expect(verify(SCHEME_PRESETS.timestamped, near)).toMatchObject({ kind: 'valid' })
  })

  it.each([
    ['no timestamp', 'v1=abc', 'missing_header'],
    ['a timestamp that is no number', 't=soon,v1=abc', 'malformed_header'],
    ['a timestamp in milliseconds', `t=${NOW},v1=abc`, 'malformed_header'],
    ['a negative timestamp', 't=-1,v1=abc', 'malformed_header'],
    ['no signature', `t=${SECONDS}`, 'malformed_header'],
    ['an empty signature', `t=${SECONDS},v1=`, 'malformed_header'],
  ])('a delivery with %s is refused', (_, value, reason) =>
    expect(verify(SCHEME_PRESETS.timestamped, { 'X-Service-Signature': value })).toMatchObject({ reason }),
  )

  it('a right signature behind ten others is ignored', () => {
    const listed = (before: number) =>
      `t=${SECONDS},${'v1=no,'.repeat(before)}v1=${openssl('sha256', SECRET, signed(`${SECONDS}.`))}`
    expect(verify(SCHEME_PRESETS.timestamped, { 'X-Service-Signature': listed(9) })).toMatchObject({ kind: 'valid' })
    expect(verify(SCHEME_PRESETS.timestamped, { 'X-Service-Signature': listed(10) })).toMatchObject({
      reason: 'mismatch',
    })
  })
})

it('verifySignature says which of several secrets signed', () => {
  const headers = { 'X-Service-Signature': openssl('sha256', SECRET, BODY) }
  expect(verify(SCHEME_PRESETS.hex, headers, { secrets: ['another secret', SECRET] })).toMatchObject({ secret: 1 })
})

it('a scheme with an unknown setting is refused', () => {
  expect(signatureScheme.safeParse({ algoritm: 'sha256' }).success).toBe(false)
  expect(signatureScheme.safeParse({ algorithm: 'md5' }).success).toBe(false)
})
