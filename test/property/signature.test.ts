import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { SCHEME_PRESETS, type SignatureScheme, signBody, verifySignature } from '../../src/core/incoming/signature.ts'
import { signatureScheme } from '../../src/core/incoming/signature-scheme.ts'

const NOW = Date.UTC(2026, 0, 1)

const anyScheme: fc.Arbitrary<SignatureScheme> = fc
  .record({
    algorithm: fc.constantFrom('sha256', 'sha512', 'sha1'),
    encoding: fc.constantFrom('hex', 'base64'),
    grammar: fc.constantFrom('plain', 'prefix', 'pairs', 'versions'),
    signed: fc.constantFrom('body', 'timestamp.body', 'id.timestamp.body'),
  })
  .map((part) => signatureScheme.parse(part))
const anyBody = fc.uint8Array({ minLength: 1, maxLength: 200 })
const anySecret = fc.string({ minLength: 24, maxLength: 40 })
const anyId = fc.stringMatching(/^[\w-]{1,20}$/)
const anyDelivery = fc.record({ scheme: anyScheme, secret: anySecret, id: anyId, body: anyBody })

function verify(scheme: SignatureScheme, secrets: string[], headers: Record<string, string>, body: Uint8Array) {
  const lower = new Map(Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value]))
  return verifySignature(scheme, secrets, { header: (name) => lower.get(name), body }, NOW)
}

/** Changes one byte or character. */
const mutateBytes = (bytes: Uint8Array, at: number, by: number) =>
  bytes.map((byte, index) => (index === at % bytes.length ? byte ^ by : byte))
const mutateText = (text: string, at: number, to: string) => {
  const index = at % text.length
  return text.slice(0, index) + to + text.slice(index + 1)
}

describe('a signed delivery', () => {
  test('a signed delivery is accepted unchanged', () => {
    fc.assert(
      fc.property(anyDelivery, ({ scheme, secret, id, body }) => {
        const headers = signBody(scheme, secret, { id, body }, NOW)
        expect(verify(scheme, [secret], headers, body).kind).toBe('valid')
      }),
    )
  })

  test('a signed delivery is refused when any byte of its body is changed, removed or added', () => {
    fc.assert(
      fc.property(anyDelivery, fc.nat(), fc.integer({ min: 1, max: 255 }), ({ scheme, secret, id, body }, at, by) => {
        const headers = signBody(scheme, secret, { id, body }, NOW)
        for (const changed of [mutateBytes(body, at, by), body.subarray(1), Uint8Array.of(...body, by)]) {
          expect(verify(scheme, [secret], headers, changed).kind).toBe('invalid')
        }
      }),
    )
  })

  test('a signed delivery is refused when any character of a signed header is changed', () => {
    const anyCharacter = fc.constantFrom('0', 'f', 'A', '=', ',', ' ', '.', 'é', '\0')
    fc.assert(
      fc.property(anyDelivery, fc.nat(), anyCharacter, ({ scheme, secret, id, body }, at, to) => {
        const headers = signBody(scheme, secret, { id, body }, NOW)
        for (const [name, value] of Object.entries(headers)) {
          const changed = mutateText(value, at, to)
          // White space around a header value does not count.
          fc.pre(changed.trim() !== value.trim())
          expect(verify(scheme, [secret], { ...headers, [name]: changed }, body).kind).not.toBe('valid')
        }
      }),
      { numRuns: 500 },
    )
  })

  test('a signed delivery is refused without any one of its headers', () => {
    fc.assert(
      fc.property(anyDelivery, ({ scheme, secret, id, body }) => {
        const headers = signBody(scheme, secret, { id, body }, NOW)
        for (const name of Object.keys(headers)) {
          const { [name]: _, ...others } = headers
          expect(verify(scheme, [secret], others, body)).toMatchObject({ kind: 'invalid' })
        }
      }),
    )
  })

  test('a signed delivery is refused with any other secret', () => {
    fc.assert(
      fc.property(anyDelivery, anySecret, ({ scheme, secret, id, body }, other) => {
        fc.pre(other !== secret)
        const headers = signBody(scheme, secret, { id, body }, NOW)
        expect(verify(scheme, [other, ''], headers, body)).toEqual({ kind: 'invalid', reason: 'mismatch' })
      }),
    )
  })
})

test('a delivery gets a verdict and no exception, whatever its headers, body and secrets are', () => {
  const anyText = fc.oneof(fc.string({ unit: 'binary' }), fc.stringMatching(/^(t=\d*,)?(v1[=,][\w+/=]*[ ,]?){0,12}$/))
  const anyHeaders = fc.dictionary(
    fc.constantFrom('X-Service-Signature', 'webhook-signature', 'webhook-timestamp', 'webhook-id'),
    anyText,
  )
  const anyOf = fc.oneof(anyScheme, fc.constantFrom(...Object.values(SCHEME_PRESETS)))
  fc.assert(
    fc.property(anyOf, anyHeaders, fc.uint8Array(), fc.array(fc.string()), (scheme, headers, body, secrets) => {
      expect(['invalid', 'stale']).toContain(verify(scheme, secrets, headers, body).kind)
    }),
    { numRuns: 1_000 },
  )
})
