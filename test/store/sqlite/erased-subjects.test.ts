import { join } from 'node:path'
import Database from 'better-sqlite3'
import { expect, onTestFinished, test } from 'vitest'
import { indexSubjects } from '../../../src/schedule/follow-events.ts'
import { eventBody, incoming, NOW } from '../../support/fixtures.ts'
import { openTestStore } from '../../support/test-store.ts'

const DATA = { service: 'storage_a', file: { id: 'fil_1', path: '/in/anna.pdf' }, other: { path: '/in/other.pdf' } }

async function openStore() {
  const store = openTestStore()
  await store.saveDelivery(incoming('evt_1', { body: eventBody('evt_1', 'file.moved', DATA), workflows: [] }))
  const db = new Database(join(store.folder, 'upshot.db'), { readonly: true })
  onTestFinished(() => void db.close())
  const list = () => db.prepare<[], number>('SELECT subject FROM event_subject ORDER BY subject').pluck().all()
  const words = { kind: 'path', text: '/in/anna.pdf' } as const
  const by = { actor: 'ben', reason: 'request 7', now: NOW }
  return { store, list, erase: () => store.eraseTexts({ words, table: 'event', keys: [[1]], ...by }) }
}

test('an erased path leaves no hash in the index of events, and other subjects of its events do', async () => {
  const { store, list, erase } = await openStore()
  await indexSubjects(store)
  const before = list()
  expect(await erase()).toBe(1)
  expect(list()).toHaveLength(before.length - 1)
  expect(before).toEqual(expect.arrayContaining(list()))
})

test('a path that is erased while its event is indexed leaves no hash, also of the first batch', async () => {
  const { store, list, erase } = await openStore()
  const batch = await store.readSubjects(100)
  await erase()
  if (batch) await store.saveSubjects(batch)
  expect(list()).toEqual([])
  await indexSubjects(store)
  expect(list()).toHaveLength((batch?.rows.length ?? 0) / 2 - 1)
})
