import { expect } from 'vitest'
import { EMPTY_BOOK } from '../../src/core/alerts/alert-book.ts'
import { NOW, queueRun } from '../support/fixtures.ts'
import { describeStores } from './describe-stores.ts'
import { claimNext } from './support/claim-next.ts'

const ERROR = { name: 'Error', message: 'no luck' }

describeStores((test, open) => {
  test('of two processes that change the book of an alert rule, one is refused', async ({ store, reopen }) => {
    const other = await reopen()
    expect(await store.loadAlertBook('a')).toBe(null)
    expect(await store.saveAlertBook('a', EMPTY_BOOK, 0)).toBe(true)
    const book = { ...EMPTY_BOOK, sentAt: [NOW] }
    const saved = await Promise.all([store.saveAlertBook('a', book, 1), other.saveAlertBook('a', book, 1)])
    expect(saved.toSorted()).toEqual([false, true])
    expect(await other.loadAlertBook('a')).toEqual({ book, version: 2 })
    expect(await store.saveAlertBook('a', EMPTY_BOOK, 0)).toBe(false)
  })

  test('the books of rules that are gone are removed', async ({ store }) => {
    for (const rule of ['a', 'b', 'c']) await store.saveAlertBook(rule, EMPTY_BOOK, 0)
    await store.keepAlertBooks(['b'])
    expect(await Promise.all(['a', 'b', 'c'].map((rule) => store.loadAlertBook(rule)))).toMatchObject([
      null,
      { version: 1 },
      null,
    ])
  })

  test('failures are listed in the order of their ends, from a mark on, and not those that were retried', async () => {
    const { store } = await open()
    const runs: string[] = []
    for (const [index, at] of [NOW + 30, NOW + 10, NOW + 10, NOW + 50].entries()) {
      runs[index] = await queueRun(store, `evt_${index}`)
      await store.failRun((await claimNext(store)).lease, ERROR, at)
    }
    const [late = '', one = '', other = ''] = runs
    const list = (at: number, run: string, limit = 10) =>
      store.listEndedFailures({ after: { at, run }, until: NOW + 50, limit })
    const all = await list(NOW, '')
    expect(all.map(({ run }) => run)).toEqual([one, other, late])
    expect(all[0]).toEqual({ run: one, workflow: 'follow-up', finishedAt: NOW + 10, error: ERROR, tags: {} })
    expect((await list(NOW + 10, one)).map(({ run }) => run)).toEqual([other, late])
    expect(await list(NOW, '', 1)).toHaveLength(1)
    await store.retryRun(other, NOW + 60)
    expect((await list(NOW, '')).map(({ run }) => run)).toEqual([one, late])
  })
})
