import { expect } from 'vitest'
import type { EventRecord } from '../../src/core/incoming/event.ts'
import { type Page, searchPage } from '../../src/core/store/search.ts'
import type { Store } from '../../src/core/store/store.ts'
import { indexSubjects } from '../../src/schedule/follow-events.ts'
import { countDueHours } from '../../src/schedule/hour-counter.ts'
import { eventBody, incoming, NOW, queueRun } from '../support/fixtures.ts'
import { describeStores } from './describe-stores.ts'

const HOUR = 3_600_000

async function save(store: Store, id: string, data: object, at = 0): Promise<void> {
  await store.saveDelivery(
    incoming(id, { body: eventBody(id, 'file.created', data), receivedAt: NOW + at, workflows: [] }),
  )
}

/** Ids of all events of a search, read in small slices. */
async function findAll(store: Store, search: Parameters<Store['searchEvents']>[0], limit = 100) {
  const found: string[] = []
  for (let after: string | null = null; ; ) {
    const read = (slice: Parameters<Store['searchEvents']>[1]) => store.searchEvents(search, slice)
    const page: Page<EventRecord> = await searchPage(read, { limit, after, rows: 3, now: () => NOW })
    found.push(...page.items.map(({ id }) => id))
    if (page.next === null) return found
    after = page.next
  }
}

describeStores((test, open) => {
  test('a search by workflow skips the counted hours without it, and finds the same runs', async ({ store }) => {
    const rare: string[] = []
    for (const hour of [0, 1, 5, 9, 14, 15]) {
      for (let n = 0; n < 4; n++) await queueRun(store, `evt_${hour}_${n}`, 'often', NOW + hour * HOUR + n)
      if (![1, 9, 15].includes(hour)) rare.unshift(await queueRun(store, `evt_r${hour}`, 'rare', NOW + hour * HOUR))
    }
    // Ids of one millisecond sort in the order of their making, also at the very start of an hour.
    rare.unshift(await queueRun(store, 'evt_last', 'rare', NOW + 20 * HOUR + 5))
    const read = (rows: number, limit: number, after: string | null = null) =>
      searchPage((slice) => store.searchRuns({ workflow: 'rare' }, slice), { limit, rows, after, now: () => NOW })
    const before = await read(2, 100)
    expect(before.items.map(({ id }) => id)).toEqual(rare)
    await countDueHours(store, NOW + 21 * HOUR)
    const after = await read(2, 100)
    expect(after.items.map(({ id }) => id)).toEqual(rare)
    expect(after.searched.rows).toBeLessThan(before.searched.rows)
    const paged: string[] = []
    for (let next: string | null = null; ; ) {
      const page: Awaited<ReturnType<typeof read>> = await read(3, 1, next)
      paged.push(...page.items.map(({ id }) => id))
      if (page.next === null) break
      next = page.next
    }
    expect(paged).toEqual(rare)
    const since = await store.searchRuns(
      { workflow: 'rare', since: NOW + 14 * HOUR },
      { rows: 100, limit: 9, after: null },
    )
    expect([...since.items.map(({ id }) => id), since.next]).toEqual([...rare.slice(0, 1), expect.anything()])
  })

  test('the history of a file is the same before its events are indexed, while they are, and after', async () => {
    const { store, hasSearchIndexes } = await open()
    await save(store, 'evt_1', { service: 'storage_a', file: { id: 'fil_1', path: '/in/a.pdf' } })
    await save(store, 'evt_2', { service: 'storage_b', file: { id: 'fil_2', path: '/in/a.pdf' } })
    for (let n = 3; n < 9; n++) await save(store, `evt_${n}`, { file: { id: `fil_${n}`, path: `/other/${n}` } })
    await save(store, 'evt_9', { transfer: { id: 'trf_1', source: { service: 'storage_a', path: '/in/a.pdf' } } })
    const all = async () => [
      await findAll(store, { subject: '/in/a.pdf' }),
      await findAll(store, { subject: 'storage_a:/in/a.pdf' }, 1),
      await findAll(store, { subject: 'storage_b:fil_2' }),
      await findAll(store, { subject: 'trf_1' }),
      await findAll(store, { path: 'storage_a:/in/a.pdf' }),
      await findAll(store, { subject: 'fil_nowhere' }),
    ]
    const expected = [['evt_9', 'evt_2', 'evt_1'], ['evt_9', 'evt_1'], ['evt_2'], ['evt_9'], ['evt_9', 'evt_1'], []]
    expect(await all()).toEqual(expected)
    const batch = await store.readSubjects(2)
    if (batch) await store.saveSubjects(batch)
    expect(await all()).toEqual(expected)
    expect(await indexSubjects(store)).toBe(hasSearchIndexes ? 1 : 0)
    expect(await store.readSubjects(2)).toBeNull()
    expect(await all()).toEqual(expected)
    await save(store, 'evt_10', { service: 'storage_a', file: { id: 'fil_10', path: '/in/a.pdf' } })
    expect(await findAll(store, { subject: '/in/a.pdf' })).toEqual(['evt_10', 'evt_9', 'evt_2', 'evt_1'])
  })

  test('a batch of subjects that another process has saved is not saved again', async ({ store, reopen }) => {
    const other = await reopen()
    await save(store, 'evt_1', { file: { id: 'fil_1' } })
    const [one, two] = [await store.readSubjects(10), await other.readSubjects(10)]
    if (one && two) await Promise.all([store.saveSubjects(one), other.saveSubjects(two)])
    expect(await store.readSubjects(10)).toBeNull()
    expect(await findAll(store, { subject: 'fil_1' })).toEqual(['evt_1'])
  })

  test('an event of a hundred files is found by each of them, and a pruned one by none', async ({ store }) => {
    const files = Array.from({ length: 100 }, (_, n) => ({ path: `/many/${n}` }))
    await save(store, 'evt_1', { files })
    await indexSubjects(store)
    expect(await findAll(store, { subject: '/many/99' })).toEqual(['evt_1'])
    expect(await findAll(store, { subject: '/many/100' })).toEqual([])
    await store.prune({ kind: 'payloads', before: NOW + HOUR, now: NOW + HOUR, limit: 10, after: null })
    expect(await findAll(store, { subject: '/many/99' })).toEqual([])
  })
})
