import { expect, test } from 'vitest'
import { MAX_TOGETHER } from '../../../../src/core/safety/effect-group.ts'
import { deleteAsk, limitOf } from '../../../contract/support/begin-delete.ts'
import { claimNext } from '../../../contract/support/claim-next.ts'
import { checkpoint, incoming, NOW } from '../../../support/fixtures.ts'
import { openTwo } from '../support/open-two.ts'
import { type Sent, spyQueries } from '../support/spy-queries.ts'

/** Messages while a stop has to wait: at 1 ms each, for half a second at most. */
const MAX_MESSAGES = 500

const OPTIONS = { now: NOW, needs: 1, expiresAt: NOW + 86_400_000 }

/** The most messages of one session from taking the lock of decisions to its commit. */
function longestHold(sent: readonly Sent[]): number {
  const held = new Map<unknown, number>()
  let longest = 0
  for (const { client, text } of sent) {
    if (text.includes('pg_advisory_xact_lock(')) held.set(client, 0)
    const messages = held.get(client)
    if (messages === undefined) continue
    held.set(client, messages + 1)
    longest = Math.max(longest, messages + 1)
    if (text.startsWith('COMMIT')) held.delete(client)
  }
  return longest
}

test('a list that begins, or is held and approved, leaves a stop waiting for few messages', async () => {
  const { one } = await openTwo()
  const sent = spyQueries()
  const begin = async (event: string, most: number) => {
    await one.saveDelivery(incoming(event))
    const { lease } = await claimNext(one)
    const asks = Array.from({ length: MAX_TOGETHER }, (_, n) => {
      const asked = { path: `/f${n}`, bytes: 1, modifiedAt: null }
      return deleteAsk(checkpoint(`d${n}`, { target: `storage_a:f${n}` }), { limits: [limitOf(most)], asked })
    })
    return async () => {
      const first = sent.length
      const [permit] = await one.beginEffects(lease, asks, { ...OPTIONS, together: true })
      return { kind: permit?.kind, hold: longestHold(sent.slice(first)) }
    }
  }
  const granted = await (await begin('evt_1', MAX_TOGETHER))()
  const again = await begin('evt_2', 0)
  const held = await again()
  const [approval] = await one.listApprovals({ status: 'open', limit: 9, now: NOW })
  const word = { verdict: 'approved', actor: 'ann', reason: null, answer: null, signature: null, only: null } as const
  await one.decideApproval({ ...word, approval: approval?.id ?? '', hash: approval?.hash ?? '' }, NOW)
  const approved = await again()
  expect([granted, held, approved].map(({ kind }) => kind)).toEqual(['granted', 'held', 'granted'])
  for (const { hold } of [granted, held, approved]) {
    expect(hold).toBeGreaterThan(MAX_TOGETHER)
    expect(hold).toBeLessThan(MAX_MESSAGES)
  }
})
