import { expect } from 'vitest'
import { mergeFailureGroups } from '../../src/core/runs/failure-group.ts'
import type { RunFilter } from '../../src/core/runs/run.ts'
import { searchPage } from '../../src/core/store/search.ts'
import type { Store } from '../../src/core/store/store.ts'
import { eventBody, incoming, NOW, queueRun } from '../support/fixtures.ts'
import { describeStores } from './describe-stores.ts'
import { claimNext } from './support/claim-next.ts'

const FIRST = { rows: 100, limit: 10, after: null }

/** A run that failed with this message, made and ended `at` milliseconds after the start. */
async function fail(store: Store, message: string, { step = 'hash', workflow = 'follow-up', at = 0 } = {}) {
  const id = await queueRun(store, `evt_${workflow}_${at}`, workflow, NOW + at)
  const { lease } = await claimNext(store, NOW + at)
  await store.failRun(lease, { name: 'Error', message, step }, NOW + at + 5)
  return id
}

async function find(store: Store, filter: RunFilter): Promise<string[]> {
  return (await store.searchRuns(filter, FIRST)).items.map(({ id }) => id)
}

describeStores((test, open) => {
  test('a slice reads a bounded number of runs, and says how far it looked', async ({ store }) => {
    const ids: string[] = []
    for (let at = 0; at < 5; at++) ids.push(await queueRun(store, `evt_${at}`, at === 0 ? 'rare' : 'often', NOW + at))
    const first = await store.searchRuns({ workflow: 'rare' }, { rows: 2, limit: 10, after: null })
    expect(first).toEqual({ items: [], next: ids[3], rows: 2, from: NOW + 3 })
    const second = await store.searchRuns({ workflow: 'rare' }, { rows: 2, limit: 10, after: first.next })
    expect(second).toMatchObject({ items: [], next: ids[1], rows: 2, from: NOW + 1 })
    const third = await store.searchRuns({ workflow: 'rare' }, { rows: 2, limit: 10, after: second.next })
    expect(third).toMatchObject({ items: [{ id: ids[0] }], next: null, rows: 1, from: NOW })
  })

  test('failed runs are found by their error and by the name or key of their step', async ({ store }) => {
    const first = await fail(store, '429 on GET /files', { step: 'list[a]', at: 1 })
    const second = await fail(store, '100 % of "x" is gone', { step: 'copy', at: 2, workflow: 'mirror' })
    await queueRun(store, 'evt_9')
    expect(await find(store, { error: 'on get' })).toEqual([first])
    expect(await find(store, { error: '0 % of "' })).toEqual([second])
    expect(await find(store, { error: '4_9' })).toEqual([])
    expect(await find(store, { error: 'error: 429' })).toEqual([first])
    expect(await find(store, { step: 'list' })).toEqual([first])
    expect(await find(store, { step: 'list[a]' })).toEqual([first])
    expect(await find(store, { step: 'lis' })).toEqual([])
    expect(await find(store, { status: 'failed' })).toEqual([second, first])
    expect(await find(store, { status: 'failed', workflow: 'mirror' })).toEqual([second])
    expect(await find(store, { status: 'completed', error: '429' })).toEqual([])
  })

  test('runs that wait for a person are found, not those that go on by themselves', async ({ store }) => {
    const park = async (eventId: string, dueAt: number | null, reason: string) => {
      const id = await queueRun(store, eventId)
      await store.parkRun((await claimNext(store)).lease, { dueAt, reason })
      return id
    }
    const held = await park('evt_1', null, 'code changed: step "a" is gone')
    await park('evt_2', NOW + 1_000, 'sleeps')
    await park('evt_3', null, 'the workflow is paused')
    expect(await find(store, { waitsForPerson: true })).toEqual([held])
    expect((await store.searchRuns({ waitsForPerson: true }, FIRST)).rows).toBe(1)
  })

  test('pending, running and canceled runs are listed newest first', async ({ store }) => {
    const running = await queueRun(store, 'evt_1', 'a', NOW)
    await claimNext(store)
    const canceled = await queueRun(store, 'evt_2', 'a', NOW + 1)
    await store.cancelRun(canceled, 'by hand', NOW)
    const pending = [await queueRun(store, 'evt_3', 'a', NOW + 2), await queueRun(store, 'evt_4', 'b', NOW + 3)]
    expect(await find(store, { status: 'running' })).toEqual([running])
    expect(await find(store, { status: 'canceled' })).toEqual([canceled])
    expect(await find(store, { status: 'pending' })).toEqual(pending.toReversed())
  })

  test('failures are grouped by kind, with counts, first and last moment, over any slices', async ({ store }) => {
    await fail(store, 'file fil_1 has 1 bytes', { at: 1 })
    await fail(store, 'no luck', { at: 2 })
    const last = await fail(store, 'file fil_2 has 22 bytes', { at: 3 })
    for (const rows of [1, 2, 100]) {
      const { items, searched } = await searchPage((slice) => store.groupFailures({}, slice), {
        limit: 1_000,
        rows,
        now: () => NOW,
      })
      expect(mergeFailureGroups(items)).toMatchObject([
        { message: 'file <id> has <n> bytes', runs: 2, firstAt: NOW + 6, lastAt: NOW + 8, lastRun: last, step: 'hash' },
        { message: 'no luck', runs: 1 },
      ])
      expect(searched).toMatchObject({ rows: 3, isComplete: true, from: NOW + 1 })
    }
    const [group] = (await store.groupFailures({ error: 'bytes' }, FIRST)).items
    expect(await find(store, { failureGroup: group?.id ?? '' })).toHaveLength(2)
  })

  test('events are found by words, path, account, type and family, and by when they came', async ({ store }) => {
    const save = async (id: string, data: object, part: { account?: string; at?: number; type?: string } = {}) => {
      const body = eventBody(id, part.type, data)
      const { account = 'default', at = 0 } = part
      await store.saveDelivery(incoming(id, { body, account, receivedAt: NOW + at, workflows: [] }))
    }
    const search = async (what: Parameters<Store['searchEvents']>[0]) =>
      (await store.searchEvents(what, FIRST)).items.map(({ id }) => id)
    await save('evt_1', { service: 'storage_a', file: { path: '/in/Übung "1".pdf' } })
    await save('evt_2', { file: { path: '/out/b.pdf' } }, { account: 'second', at: 7_200_000 })
    await save('evt_3', { note: '100%' }, { type: 'transfer.completed', at: 9_000_000 })
    expect(await search({ words: ['übung'.slice(1), 'PDF'] })).toEqual(['evt_1'])
    expect(await search({ words: ['"1"'] })).toEqual(['evt_1'])
    expect(await search({ words: ['0%'] })).toEqual(['evt_3'])
    expect(await search({ words: ['/_ut/'] })).toEqual([])
    expect(await search({ path: 'storage_a:/in/*' })).toEqual(['evt_1'])
    expect(await search({ path: '/in/Übung "1".pdf' })).toEqual(['evt_1'])
    expect(await search({ account: 'second' })).toEqual(['evt_2'])
    expect(await search({ type: 'file.*' })).toEqual(['evt_2', 'evt_1'])
    expect(await search({ type: 'file.created' })).toEqual(['evt_2', 'evt_1'])
    expect(await search({ since: NOW + 1 })).toEqual(['evt_3', 'evt_2'])
    expect(await search({ since: NOW + 1, until: NOW + 9_000_000 })).toEqual(['evt_2'])
  })

  test('a body whose sender escapes its characters is found like any other', async ({ store }) => {
    const data = '{"service":"storage_a","file":{"path":"\\/in\\/\\u00dcbung.pdf"}}'
    const body = `{"id":"evt_1","type":"file.created","created":"2026-06-01T11:59:58.000Z","data":${data}}`
    await store.saveDelivery(incoming('evt_1', { body, workflows: [] }))
    expect((await store.searchEvents({ path: 'storage_a:/in/Übung.pdf' }, FIRST)).items).toHaveLength(1)
    expect((await store.searchEvents({ words: ['/in/Übung'] }, FIRST)).items).toHaveLength(1)
  })

  test('a slice of events reads a bounded number, and a moment bounds the reading itself', async ({ store }) => {
    const hour = 3_600_000
    for (let at = 0; at < 10; at++) {
      await store.saveDelivery(incoming(`evt_${at}`, { receivedAt: NOW + at * hour, workflows: [] }))
    }
    const part = await store.searchEvents({ words: ['nothing'] }, { rows: 4, limit: 10, after: null })
    expect(part).toMatchObject({ items: [], rows: 4, from: NOW + 6 * hour })
    const page = await searchPage((slice) => store.searchEvents({ words: ['fil_1'] }, slice), {
      limit: 100,
      rows: 3,
      now: () => NOW,
    })
    expect(page.items).toHaveLength(10)
    expect(page.searched).toMatchObject({ rows: 10, isComplete: true })
    // At most one hour of slack on each side, because our clock may have been set back.
    const bounded = await store.searchEvents({ since: NOW + 4 * hour, until: NOW + 5 * hour }, FIRST)
    expect(bounded).toMatchObject({ items: [{ id: 'evt_4' }], next: null })
    expect(bounded.rows).toBeLessThanOrEqual(3)
  })

  test('a walk brings the same events as a search, oldest first, in slices that neither overlap nor skip', async () => {
    const { store } = await open()
    for (let at = 0; at < 23; at++) {
      const type = at % 3 === 0 ? 'transfer.completed' : 'file.created'
      await store.saveDelivery(
        incoming(`evt_${at}`, { body: eventBody(`evt_${at}`, type), receivedAt: NOW + at * 1_000, workflows: [] }),
      )
    }
    for (const search of [{}, { type: 'file.*' }, { since: NOW + 4_000, until: NOW + 17_000 }, { words: ['evt_1'] }]) {
      const found = (await store.searchEvents(search, { ...FIRST, limit: 100 })).items.map(({ id }) => id)
      for (const bounds of [
        { rows: 4, limit: 100 },
        { rows: 100, limit: 3 },
        { rows: 5, limit: 5 },
      ]) {
        const walked: string[] = []
        let after: string | null = null
        do {
          const part: Awaited<ReturnType<Store['walkEvents']>> = await store.walkEvents(search, { ...bounds, after })
          expect(part.items.length).toBeLessThanOrEqual(bounds.limit)
          walked.push(...part.items.map(({ id }) => id))
          after = part.next
        } while (after !== null)
        expect(walked).toEqual(found.toReversed())
      }
    }
    expect((await store.walkEvents({ until: NOW }, FIRST)).items).toEqual([])
  })

  test('events are found by the beginning of their id, whatever characters it has', async ({ store }) => {
    const ids = ['evt_a%b_1', 'evt_a%b_2', 'evt_aXb_1', 'Evt_a%b_3', '請求書-1', '請求書-2']
    for (const id of ids) await store.saveDelivery(incoming(id, { body: eventBody(id) }))
    const begin = async (idBeginning: string) =>
      (await store.searchEvents({ idBeginning }, FIRST)).items.map(({ id }) => id).reverse()
    expect(await begin('evt_a%b_')).toEqual(['evt_a%b_1', 'evt_a%b_2'])
    expect(await begin('evt_a')).toEqual(['evt_a%b_1', 'evt_a%b_2', 'evt_aXb_1'])
    expect(await begin('請求書')).toEqual(['請求書-1', '請求書-2'])
    expect(await begin('evt_a%b_11')).toEqual([])
    const slice = await store.searchEvents({ idBeginning: 'evt_a%b_1' }, { ...FIRST, rows: 2 })
    expect(slice).toMatchObject({ items: [], rows: 2 })
    expect(slice.next).not.toBeNull()
  })
})
