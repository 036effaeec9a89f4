import { expect } from 'vitest'
import { EVENT_POSITION, encodePosition, readPage } from '../../src/admin/queries/read-page.ts'
import { eventBody, incoming, NOW } from '../support/fixtures.ts'
import { describeStores } from './describe-stores.ts'

const signal = new AbortController().signal

describeStores((test) => {
  test('the API gives every page of a list of events, and refuses the position of another list', async ({ store }) => {
    for (let n = 1; n <= 5; n++)
      await store.saveDelivery(incoming(`evt_${n}`, { body: eventBody(`evt_${n}`), receivedAt: NOW + n }))
    const read = (after?: string) =>
      readPage(
        { query: { limit: 2, after }, signal, position: EVENT_POSITION },
        (slice) => store.searchEvents({}, slice),
        (events) => events.map(({ id }) => id),
      )
    const found: string[] = []
    for (let after: string | undefined; found.length < 5; ) {
      const { items, next } = await read(after)
      found.push(...items)
      after = next ?? undefined
    }
    expect(found).toEqual(['evt_5', 'evt_4', 'evt_3', 'evt_2', 'evt_1'])
    await expect(read(encodePosition('run_00000000000000000000000001'))).rejects.toMatchObject({
      code: 'invalid_request',
    })
  })

  test('a position that another database gave is the fault of who asks, if it is none of this one', async ({
    store,
  }) => {
    for (const place of ['1', '1.2', '9999999999999999.9999999999999999.1', '1795939761687.0.3']) {
      const code = await store.searchEvents({}, { rows: 10, limit: 10, after: place }).then(
        () => 'found',
        (error) => error.code,
      )
      expect(code, place).toBeOneOf(['found', 'invalid_request'])
    }
  })
})
