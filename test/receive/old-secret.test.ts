import { expect, test } from 'vitest'
import { planRetirement, planRotation } from '../../src/core/incoming/endpoint.ts'
import { eventBody, NOW } from '../support/fixtures.ts'
import { opensslHmac } from '../support/sign.ts'
import { createTestReceiver, SECRET } from '../support/test-receiver.ts'

const NEXT = 'the-next-secret-0123456789abcdef'

async function startWithRetired() {
  const tested = await createTestReceiver()
  const rotated = planRotation(tested.endpoint, NEXT, { overlapMs: 3_600_000, now: NOW })
  await tested.store.updateEndpoint(planRetirement(rotated, NOW))
  return tested
}

test('a refusal says when the secret was retired that signed the delivery', async () => {
  const { post, store, heard, receiver } = await startWithRetired()
  const old = await post(eventBody('evt_1')).expect(401)
  const forged = await post(eventBody('evt_1'), { 'X-Service-Signature': '00'.repeat(32) }).expect(401)
  expect(old.text).toBe(forged.text)
  await post(eventBody('evt_1'), { 'X-Service-Signature': opensslHmac(NEXT, eventBody('evt_1')) }).expect(200)
  await receiver.stop()
  const told = { reason: 'old_secret', retiredAt: new Date(NOW).toISOString() }
  expect((await store.listDeliveries({ limit: 9 })).map(({ verdict, facts }) => [verdict, facts]).reverse()).toEqual([
    ['bad_signature', told],
    ['bad_signature', { reason: 'mismatch' }],
    ['accepted', { secret: 1 }],
  ])
  expect(heard).toContainEqual(expect.objectContaining({ kind: 'delivery.received', facts: told }))
  expect(JSON.stringify(heard)).not.toContain(SECRET)
})

test('a flood of deliveries with a retired secret is explained for the first twenty only', async () => {
  const { post, store, receiver } = await startWithRetired()
  const signature = { 'X-Service-Signature': opensslHmac(SECRET, eventBody('evt_1')) }
  for (let each = 0; each < 25; each++) await post(eventBody('evt_1'), signature).expect(401)
  await receiver.stop()
  const reasons = (await store.listDeliveries({ limit: 99 })).map(({ facts }) => facts.reason)
  expect(reasons.filter((reason) => reason === 'old_secret')).toHaveLength(20)
})
