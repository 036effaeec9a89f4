import { expect, test } from 'vitest'
import { pickSigningHeaders } from '../../src/receive/accept-delivery.ts'

test.each([
  ['X-Hub-Signature-256', true],
  ['webhook-id', true],
  ['webhook-timestamp', true],
  ['X-Slack-Request-Timestamp', true],
  ['X-Shopify-Hmac-Sha256', true],
  ['Content-Digest', true],
  ['X-GitHub-Delivery', true],
  ['X-Sig', true],
  ['Authorization', false],
  ['Proxy-Authorization', false],
  ['Cookie', false],
  ['X-Gitlab-Token', false],
  ['X-Webhook-Secret', false],
  ['X-Session-Id', false],
  ['X-User-Id', false],
  ['X-Forwarded-For', false],
  ['Content-Type', false],
  ['Date', false],
])('a capture of the header %s keeps %s', (name, isKept) => {
  expect(pickSigningHeaders(['Host', 'x', name, 'value'])).toEqual(isKept ? { [name.toLowerCase()]: 'value' } : {})
})

test('a capture keeps a bounded number of headers of bounded length', () => {
  const many = Array.from({ length: 100 }, (_, n) => [`x-sig-${n}`, 'v']).flat()
  expect(Object.keys(pickSigningHeaders(many))).toHaveLength(20)
  expect(pickSigningHeaders(['x-sig', 'v'.repeat(5_000)])).toEqual({})
})
