import { expect } from 'vitest'
import { describeStores } from './describe-stores.ts'

describeStores((test) => {
  test('the limit of each API key has its own state and version', async ({ store, reopen }) => {
    expect(await store.loadLimit('a')).toBe(null)
    expect(await store.saveLimit('a', '{"n":1}', 0)).toBe(true)
    expect(await store.saveLimit('b', '{"n":9}', 0)).toBe(true)
    expect(await store.saveLimit('a', '{"n":2}', 1)).toBe(true)
    expect(await (await reopen()).loadLimit('a')).toEqual({ state: '{"n":2}', version: 2 })
    expect(await store.loadLimit('b')).toEqual({ state: '{"n":9}', version: 1 })
    const all = (await store.listLimits()).toSorted((one, other) => one.key.localeCompare(other.key))
    expect(all).toEqual([
      { key: 'a', state: '{"n":2}' },
      { key: 'b', state: '{"n":9}' },
    ])
  })

  test('a change of an older version of a limit is refused', async ({ store, reopen }) => {
    const other = await reopen()
    const first = await Promise.all([store.saveLimit('a', '"ours"', 0), other.saveLimit('a', '"theirs"', 0)])
    expect(first.toSorted()).toEqual([false, true])
    const second = await Promise.all([store.saveLimit('a', '"ours"', 1), other.saveLimit('a', '"theirs"', 1)])
    expect(second.toSorted()).toEqual([false, true])
    expect(await store.loadLimit('a')).toMatchObject({ version: 2 })
    expect(await store.saveLimit('a', '"late"', 1)).toBe(false)
  })
})
