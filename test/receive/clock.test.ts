import { expect, test } from 'vitest'
import { SCHEME_PRESETS, signBody } from '../../src/core/incoming/signature.ts'
import { ManualClock } from '../../src/core/time.ts'
import { eventBody, NOW } from '../support/fixtures.ts'
import { createTestReceiver, SECRET } from '../support/test-receiver.ts'

test('a delivery made stale by a jump of our clock is answered 503, and accepted once it is right', async () => {
  const clock = Object.assign(new ManualClock(NOW), { uptime: () => 7 })
  const { post, heard } = await createTestReceiver({ clock, endpoint: { scheme: SCHEME_PRESETS.timestamped } })
  const body = eventBody('evt_1')
  const sign = (at: number, secret = SECRET) =>
    signBody(SCHEME_PRESETS.timestamped, secret, { id: 'evt_1', body: Buffer.from(body) }, at)
  clock.set(NOW + 86_400_000)
  expect((await post(body, sign(NOW - 200_000))).status).toBe(503)
  expect(heard).toMatchObject([
    { verdict: 'unavailable', facts: { skewSeconds: 86_600, reason: 'our clock was set forward' } },
  ])
  const stale = await post(body, sign(NOW - 3_600_000))
  const wrong = await post(body, sign(NOW + 86_400_000, 'a-secret-that-nobody-has-given'))
  expect([stale.status, stale.text]).toEqual([401, wrong.text])
  expect((await post(body, sign(NOW + 86_400_000))).status).toBe(200)
  clock.set(NOW)
  expect((await post(body, sign(NOW - 200_000))).status).toBe(200)
})

test('a delivery signed ahead of our clock is answered 503, and accepted once our clock is right', async () => {
  const { post, clock, heard } = await createTestReceiver({ endpoint: { scheme: SCHEME_PRESETS.timestamped } })
  const body = eventBody('evt_1')
  const signed = signBody(SCHEME_PRESETS.timestamped, SECRET, { id: 'evt_1', body: Buffer.from(body) }, NOW)
  clock.set(NOW - 3_600_000)
  expect((await post(body, signed)).status).toBe(503)
  expect(heard).toMatchObject([{ verdict: 'unavailable', facts: { skewSeconds: -3_600 } }])
  clock.set(NOW)
  expect((await post(body, signed)).status).toBe(200)
  clock.set(NOW + 3_600_000)
  expect((await post(body, signed)).status).toBe(401)
})
