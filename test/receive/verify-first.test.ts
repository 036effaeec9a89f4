import { timingSafeEqual } from 'node:crypto'
import { beforeEach, expect, test, vi } from 'vitest'
import { SCHEME_PRESETS, signBody, verifySignature } from '../../src/core/incoming/signature.ts'
import { readEvent } from '../../src/receive/read-event.ts'
import { eventBody, NOW } from '../support/fixtures.ts'
import { createTestReceiver, SECRET } from '../support/test-receiver.ts'

vi.mock('node:crypto', async (importReal) => {
  const real = await importReal<typeof import('node:crypto')>()
  return { ...real, timingSafeEqual: vi.fn(real.timingSafeEqual) }
})
vi.mock('../../src/receive/read-event.ts', { spy: true })

beforeEach(() => {
  vi.mocked(timingSafeEqual).mockClear()
  vi.mocked(readEvent).mockClear()
})

const OTHER = 'another-secret-0123456789abcdef'

test.each([
  ['the first secret', SECRET, 'valid'],
  ['the last secret', OTHER, 'valid'],
  ['no secret of the endpoint', 'forged-secret-0123456789abcdef', 'invalid'],
])('P11: compares every secret in constant time, also when %s signed', (_who, signer, kind) => {
  const body = Buffer.from(eventBody('evt_1'))
  const headers = signBody(SCHEME_PRESETS.hex, signer, { id: 'evt_1', body }, NOW)
  const header = (name: string) => (name === 'x-service-signature' ? headers['X-Service-Signature'] : undefined)
  expect(verifySignature(SCHEME_PRESETS.hex, [SECRET, OTHER], { header, body }, NOW).kind).toBe(kind)
  expect(timingSafeEqual).toHaveBeenCalledTimes(2)
})

test('P12: reads no body before its signature is verified', async () => {
  const { post } = await createTestReceiver()
  const forged = { 'X-Service-Signature': 'f'.repeat(64) }
  for (const body of [eventBody('evt_1'), '{"broken', Buffer.from([0xff, 0xfe])]) {
    expect((await post(body, forged)).status).toBe(401)
  }
  expect(readEvent).not.toHaveBeenCalled()
  expect((await post(eventBody('evt_1'))).status).toBe(200)
  expect(readEvent).toHaveBeenCalledTimes(1)
})
