import { expect, it } from 'vitest'
import { VERDICTS } from '../../../src/core/incoming/delivery.ts'

const refusals = Object.entries(VERDICTS).filter(([, { status }]) => status >= 300)

it('answers a success for what is safe in the store, and for nothing else', () => {
  const safe = Object.entries(VERDICTS).filter(([, { status }]) => status < 300)
  expect(safe.map(([verdict]) => verdict)).toEqual(['accepted', 'duplicate', 'conflict'])
})

it('gives all refusals of trust the same face', () => {
  for (const verdict of ['bad_signature', 'stale', 'unknown_endpoint', 'disabled'] as const) {
    expect(VERDICTS[verdict].status).toBe(401)
  }
})

it('never tells a sender to unsubscribe, and asks for another try only where one can help', () => {
  for (const [, { status }] of refusals) expect([404, 410]).not.toContain(status)
  const again = refusals.filter(([, { status }]) => status >= 500).map(([verdict]) => verdict)
  expect(again).toEqual(['consumed', 'learning', 'overloaded', 'draining'])
})
