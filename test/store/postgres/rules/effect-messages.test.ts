import { expect, test } from 'vitest'
import { MAX_TOGETHER } from '../../../../src/core/safety/effect-group.ts'
import { deleteAsk } from '../../../contract/support/begin-delete.ts'
import { claimLease } from '../../../contract/support/waiting-runs.ts'
import { checkpoint, NOW } from '../../../support/fixtures.ts'
import { openTwo } from '../support/open-two.ts'
import { spyQueries } from '../support/spy-queries.ts'

test('effects that begin again together send few messages: a run of thousands goes on soon after a death', async () => {
  const { one } = await openTwo()
  const lease = await claimLease(one, 'evt_1')
  const asks = Array.from({ length: MAX_TOGETHER }, (_, index) => deleteAsk(checkpoint(`a${index}`)))
  const begin = () => one.beginEffects(lease, asks, { now: NOW, expiresAt: NOW + 1, needs: 1, together: true })
  await begin()
  const sent = spyQueries()
  expect(await begin()).toMatchObject(asks.map(() => ({ kind: 'granted', isRepeated: true })))
  expect(sent.length).toBeLessThan(20)
})
