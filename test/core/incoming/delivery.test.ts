import { expect, it } from 'vitest'
import { VERDICTS } from '../../../src/core/incoming/delivery.ts'

const refusals = Object.entries(VERDICTS).filter(([, { status }]) => status >= 300)

it('only deliveries that are safe in the store are answered with success', () => {
  const safe = Object.entries(VERDICTS).filter(([, { status }]) => status < 300)
  expect(safe.map(([verdict]) => verdict)).toEqual(['accepted', 'duplicate', 'conflict'])
})

it('all refusals for lack of trust have the same status', () => {
  for (const verdict of ['bad_signature', 'stale', 'unknown_endpoint', 'disabled'] as const) {
    expect(VERDICTS[verdict].status).toBe(401)
  }
})

it('no refusal of an endpoint tells a sender to unsubscribe, and only some ask for another try', () => {
  const gone = refusals.filter(([, { status }]) => status === 404 || status === 410).map(([verdict]) => verdict)
  expect(gone).toEqual(['unknown_hook', 'closed'])
  const again = refusals.filter(([, { status }]) => status >= 500).map(([verdict]) => verdict)
  expect(again).toEqual(['consumed', 'learning', 'overloaded', 'unavailable', 'draining'])
})
