import { expect, test } from 'vitest'
import { testbed } from '../../../src/testing/index.ts'
import { greet } from '../support/workflows.ts'

const body = { id: 'evt_9', type: 'greeting.asked', created: '2026-01-01T00:00:00Z', data: { name: 'Eve' } }

test('deliver posts a signed body, which the receiver accepts once', async () => {
  await using t = await testbed({ workflows: [greet] })
  expect(await t.deliver(body)).toEqual({ status: 200, verdict: 'accepted', runs: 1 })
  expect(await t.deliver(JSON.stringify(body))).toEqual({ status: 200, verdict: 'duplicate', runs: 0 })
  expect(t.runs(greet)).toMatchObject([{ output: 'Hello Eve' }])
})

test.each([
  ['a signature of somebody else', { signature: 'ab'.repeat(32) }, 401],
  ['no signature', { headers: { 'X-Service-Signature': null } }, 401],
  ['another kind of content', { headers: { 'Content-Type': 'text/plain' } }, 415],
])('deliver reports that the receiver refuses %s', async (_, options, status) => {
  await using t = await testbed({ workflows: [greet] })
  expect(await t.deliver(body, options)).toMatchObject({ status, runs: 0 })
  expect(t.runs()).toEqual([])
})

test('deliveries that are sent at once get their own verdicts', async () => {
  await using t = await testbed({ workflows: [greet] })
  const forged = t.deliver(body, { signature: 'ab'.repeat(32) })
  expect(await Promise.all([t.deliver(body), forged, t.deliver(body)])).toEqual([
    { status: 200, verdict: 'accepted', runs: 1 },
    { status: 401, verdict: 'bad_signature', runs: 0 },
    { status: 200, verdict: 'duplicate', runs: 0 },
  ])
})
