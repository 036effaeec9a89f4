import { expect, test } from 'vitest'
import type { Notice } from '../../src/core/notices.ts'
import { LEARNED } from '../../src/core/service/shapes/shape-book.ts'
import { followShapes } from '../../src/schedule/follow-events.ts'
import { openSqliteStore } from '../../src/store/sqlite/open-sqlite-store.ts'
import { eventBody, incoming } from '../support/fixtures.ts'
import { testVaultKey } from '../support/test-store.ts'

async function openFollowed() {
  const store = openSqliteStore({ file: ':memory:', vaultKey: testVaultKey })
  const heard: Notice[] = []
  let count = 0
  const send = (file: object, type = 'file.created') =>
    store.saveDelivery(incoming('', { body: eventBody(`evt_${count++}`, type, { file }) }))
  const follow = async () => {
    await followShapes(store, (notice) => heard.push(notice))
    return heard.splice(0)
  }
  for (let n = 0; n < LEARNED; n++) await send({ id: `fil_${n}`, size: n, ...(n === 3 ? { note: 'x' } : {}) })
  return { store, send, follow }
}

test('an event that changes the shape of its type is told once, with what is new', async () => {
  const { send, follow } = await openFollowed()
  expect(await follow()).toEqual([])
  await send({ id: 'fil_x', size: 1, note: 'seen before' })
  await send({ id: 'fil_y', size: '1', tags: [] })
  await send({ id: 'fil_z', size: '2', tags: [] })
  await send({ id: 'other' }, 'file.moved')
  const changes = ['data.file.size: text, was integer', 'data.file.tags: list, is new']
  expect(await follow()).toEqual([
    { kind: 'event.drifted', event: `evt_${LEARNED + 1}`, account: 'default', type: 'file.created', changes },
  ])
  expect(await follow()).toEqual([])
  await send({ size: 3 })
  expect(await follow()).toMatchObject([{ changes: ['data.file.id: missing, was always there'] }])
})

test('of two processes that look at the same events, one tells', async () => {
  const { store, send, follow } = await openFollowed()
  await follow()
  await send({ id: 'fil_x', size: 1, more: true })
  const told: Notice[] = []
  await Promise.all([1, 2].map(() => followShapes(store, (notice) => told.push(notice))))
  expect(told).toHaveLength(1)
})

test('a type of names without end is followed no longer, and the book stays small', async () => {
  const { store, send, follow } = await openFollowed()
  for (let n = 0; n < 12; n++)
    await send(Object.fromEntries(Array.from({ length: 45 }, (_, i) => [`n${String.fromCharCode(97 + n)}${i}`, i])))
  await follow()
  const book = (await store.loadShapeBook())?.book
  expect(book?.types['file.created']?.outline).toBe(null)
  expect(await follow()).toEqual([])
})
