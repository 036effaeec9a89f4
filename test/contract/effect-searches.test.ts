import { expect } from 'vitest'
import type { EffectRecord } from '../../src/core/safety/effect.ts'
import type { EffectFilter } from '../../src/core/store/effects.ts'
import { type SearchBounds, searchPage } from '../../src/core/store/search.ts'
import type { Store } from '../../src/core/store/store.ts'
import { NOW } from '../support/fixtures.ts'
import { describeStores } from './describe-stores.ts'
import { deleteFiles } from './support/delete-files.ts'

/** Appends a row for each moment, of which `scope` and moment tell one from another. */
async function note(store: Store, ...moments: number[]): Promise<void> {
  for (const at of moments) {
    await store.stopEffects({ kind: 'storage', name: `s${at}`, since: NOW + at, actor: 'ada', reason: 'no' })
  }
}

const search = (store: Store, filter: EffectFilter, bounds: Partial<SearchBounds>) =>
  searchPage((slice) => store.searchEffects(filter, slice), { limit: 10, now: () => NOW, ...bounds })

describeStores((test, open) => {
  test('a slice reads a bounded number of rows, and says how far it looked', async ({ store }) => {
    await note(store, 1, 2, 3, 4, 5)
    const filter = { account: 'nobody' }
    const first = await store.searchEffects(filter, { rows: 2, limit: 9, after: null })
    expect(first).toEqual({ items: [], next: expect.any(String), rows: 2, from: NOW + 4 })
    const second = await store.searchEffects(filter, { rows: 2, limit: 9, after: first.next })
    expect(second).toMatchObject({ items: [], rows: 2, from: NOW + 2 })
    expect(await store.searchEffects(filter, { rows: 2, limit: 9, after: second.next })).toEqual({
      items: [],
      next: null,
      rows: 1,
      from: NOW + 1,
    })
    expect((await search(store, filter, { rows: 2 })).searched).toMatchObject({ rows: 5, isComplete: true })
  })

  test('pages come newest first by their moments, each row once, also where clocks disagree', async ({ store }) => {
    await note(store, 5, 1, 4, 2, 3)
    await deleteFiles(store, ['a', 'b'])
    const moments: number[] = []
    for (let after: string | null = null, pages = 0; pages < 20; pages++) {
      const page = await search(store, {}, { limit: 2, rows: 3, after })
      moments.push(...page.items.map(({ at }) => at - NOW))
      if (page.next === null) break
      after = page.next
    }
    expect(moments).toEqual([5, 4, 3, 2, 1, 0, 0, 0, 0])
    expect((await store.listEffects({ limit: 9 })).map(({ at }) => at - NOW)).toEqual(moments)
    const bySeq = await store.listEffects({ after: 0, limit: 9 })
    expect(bySeq.map(({ seq }) => seq)).toEqual(bySeq.map(({ seq }) => seq).toSorted((one, other) => one - other))
  })

  test('each part of a filter narrows, and a search by one that has an index reads its rows only', async () => {
    const { store } = await open()
    const { runId } = await deleteFiles(store, ['a', 'b'])
    await note(store, 1, 2, 3)
    const seen = async (filter: EffectFilter) => {
      const { items, searched } = await search(store, filter, {})
      return [items.length, searched.rows]
    }
    expect(await seen({})).toEqual([7, 7])
    expect(await seen({ workflow: 'follow-up' })).toEqual([4, 4])
    expect(await seen({ runId })).toEqual([4, 4])
    expect(await seen({ target: 'storage_a:a' })).toEqual([2, 2])
    expect(await seen({ target: 'storage_a:a', phases: ['ended'] })).toEqual([1, 2])
    expect(await seen({ since: NOW + 2 })).toEqual([2, 2])
    expect(await seen({ since: NOW + 1, until: NOW + 2 })).toEqual([1, 1])
    expect(await seen({ until: NOW + 1, class: 'delete' })).toEqual([4, 4])
    expect(await seen({ workflow: 'follow-up', since: NOW + 1 })).toEqual([0, 0])
    expect(await seen({ phases: ['switched'] })).toEqual([3, 7])
  })

  test('pages of a filter are read oldest first, and each row is on one of them', async ({ store }) => {
    await note(store, 5, 1, 4, 2)
    for (const name of ['x', 'y']) {
      await store.stopEffects({ kind: 'account', name, since: NOW + 4, actor: 'ada', reason: 'no' })
    }
    const read = async (filter: EffectFilter) => {
      const rows: EffectRecord[] = []
      for (let page: EffectRecord[] = [], first = true; first || page.length === 2; first = false) {
        page = await store.pageEffects({ ...filter, beyond: rows.at(-1) ?? null, limit: 2 })
        rows.push(...page)
      }
      return rows.map(({ at }) => at - NOW)
    }
    expect(await read({})).toEqual([1, 2, 4, 4, 4, 5])
    expect(await read({ since: NOW + 2, until: NOW + 5 })).toEqual([2, 4, 4, 4])
    expect(await read({ workflow: 'rare' })).toEqual([])
    expect(await read({ phases: ['switched'], since: NOW + 4 })).toEqual([4, 4, 4, 5])
  })
})
