import { join } from 'node:path'
import Database from 'better-sqlite3'
import { expect, test } from 'vitest'
import { indexSubjects } from '../../../src/schedule/follow-events.ts'
import { eventBody, incoming, NOW } from '../../support/fixtures.ts'
import { openTestStore } from '../../support/test-store.ts'

test('an erased path leaves no hash in the index of events, and other subjects of its events do', async () => {
  const store = openTestStore()
  const data = { service: 'storage_a', file: { id: 'fil_1', path: '/in/anna.pdf' }, other: { path: '/in/other.pdf' } }
  await store.saveDelivery(incoming('evt_1', { body: eventBody('evt_1', 'file.moved', data), workflows: [] }))
  await indexSubjects(store)
  const db = new Database(join(store.folder, 'upshot.db'), { readonly: true })
  const list = () => db.prepare<[], number>('SELECT subject FROM event_subject ORDER BY subject').pluck().all()
  const before = list()
  const words = { kind: 'path', text: '/in/anna.pdf' } as const
  const by = { actor: 'ben', reason: 'request 7', now: NOW }
  expect(await store.eraseTexts({ words, table: 'event', keys: [[1]], ...by })).toBe(1)
  const after = list()
  db.close()
  expect(after).toHaveLength(before.length - 1)
  expect(before).toEqual(expect.arrayContaining(after))
})
