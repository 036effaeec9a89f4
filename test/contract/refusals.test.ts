import { expect } from 'vitest'
import { newId } from '../../src/core/ids.ts'
import type { RefusedDelivery } from '../../src/core/incoming/delivery.ts'
import type { Store } from '../../src/core/store/store.ts'
import { incoming, NOW } from '../support/fixtures.ts'
import { describeStores } from './describe-stores.ts'

const MAX_REFUSALS = 10_000
const AT_ONCE = 100

function refusal(verdict: RefusedDelivery['verdict'] = 'bad_signature'): RefusedDelivery {
  return { id: newId('dlv', NOW), endpointId: null, receivedAt: NOW, verdict, bodyBytes: 12, facts: {} }
}

/** Row counts of the ledger by verdict. */
async function countRows(store: Store): Promise<Record<string, number>> {
  const rows = await store.listDeliveries({ limit: 100_000 })
  return Object.fromEntries(
    Object.entries(Object.groupBy(rows, (row) => row.verdict)).map(([verdict, those]) => [verdict, those.length]),
  )
}

describeStores((test) => {
  test('the newest refusals of each verdict are kept, and the others counted', async ({ store }) => {
    await store.saveDelivery(incoming('evt_old'))
    await store.saveDelivery(incoming('evt_old'))
    await store.saveRefusal(refusal('stale'))
    const refusals = Array.from({ length: MAX_REFUSALS + 30 }, () => refusal())
    // As many at a time as a receiver has waiting: a store refuses calls that wait for too long.
    for (let from = 0; from < refusals.length; from += AT_ONCE)
      await Promise.all(refusals.slice(from, from + AT_ONCE).map((each) => store.saveRefusal(each)))

    expect(await countRows(store)).toEqual({ accepted: 1, duplicate: 1, stale: 1, bad_signature: MAX_REFUSALS })
    expect(await store.tallyRefusals()).toEqual([
      { verdict: 'bad_signature', listed: MAX_REFUSALS, dropped: 30 },
      { verdict: 'stale', listed: 1, dropped: 0 },
    ])
    const newest = (await store.listDeliveries({ limit: 1 })).map((row) => row.id)
    expect(newest).toEqual([refusals.at(-1)?.id])
    const listed = new Set((await store.listDeliveries({ limit: 100_000 })).map((row) => row.id))
    expect(refusals.slice(0, 31).map(({ id }) => listed.has(id))).toEqual([...Array(30).fill(false), true])
  })

  test('a delivery whose commit was given up keeps its row as accepted, and counts as a refusal', async ({ store }) => {
    const delivery = incoming('evt_1')
    await store.saveDelivery(delivery)
    await store.saveRefusal({ ...refusal('unavailable'), id: delivery.id })
    expect(await countRows(store)).toEqual({ accepted: 1 })
    expect(await store.tallyRefusals()).toEqual([{ verdict: 'unavailable', listed: 0, dropped: 1 }])
  })

  test('refusals without a row are counted', async ({ store, reopen }) => {
    await store.saveRefusal(refusal('overloaded'))
    await store.countRefusals({ overloaded: 7, stale: 2 })
    await store.countRefusals({ overloaded: 1 })
    expect(await (await reopen()).tallyRefusals()).toEqual([
      { verdict: 'overloaded', listed: 1, dropped: 8 },
      { verdict: 'stale', listed: 0, dropped: 2 },
    ])
  })
})
