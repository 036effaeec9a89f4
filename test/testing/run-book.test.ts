import { expect, test } from 'vitest'
import { RunBook } from '../../src/testing/run-book.ts'
import { queueRun } from '../support/fixtures.ts'
import { openTestStore } from '../support/test-store.ts'

test('a run book reads only the runs that may have changed, however many there are', async () => {
  const store = openTestStore()
  const ids: string[] = []
  for (let n = 0; n < 20; n++) ids.push(await queueRun(store, `evt_${n}`))
  const read: string[] = []
  const watched = new Proxy(store, {
    get: (target, name) => {
      read.push(String(name))
      return Reflect.get(target, name)
    },
  })
  const book = new RunBook()
  await book.refresh(watched, { ids: new Set(), areAll: true })
  expect(book.list().map(({ id }) => id)).toEqual(ids)
  read.length = 0
  await book.refresh(watched, { ids: new Set(ids.slice(0, 1)), areAll: false })
  expect(read).toEqual(['findRun', 'listSteps'])
})
