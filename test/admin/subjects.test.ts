import { expect, test } from 'vitest'
import { indexSubjects } from '../../src/schedule/follow-events.ts'
import { eventBody, incoming } from '../support/fixtures.ts'
import { startConsole } from './support/start-console.ts'

const FILE = { service: 'storage_a', file: { id: 'fil_1', path: '/in/a.pdf' } }

test('the history of a file has its events with their runs, also once they are indexed', async () => {
  const { store, get } = await startConsole()
  await store.saveDelivery(incoming('evt_1', { body: eventBody('evt_1', 'file.created', FILE) }))
  await store.saveDelivery(incoming('evt_2', { body: eventBody('evt_2', 'file.created', { file: { id: 'fil_2' } }) }))
  const path = `/subjects/${encodeURIComponent('storage_a:/in/a.pdf')}`
  const told = { items: [{ event: { id: 'evt_1' }, runs: [{ workflow: 'follow-up' }] }], next: null, effects: [] }
  expect(await get(path)).toMatchObject(told)
  await indexSubjects(store)
  expect(await get(path)).toMatchObject(told)
  expect((await get('/subjects/fil_2')).items).toMatchObject([{ event: { id: 'evt_2' } }])
})

test('an event names its files and ids, and their history is not for a viewer', async () => {
  const { store, ask, makeToken } = await startConsole()
  await store.saveDelivery(incoming('evt_1', { body: eventBody('evt_1', 'file.created', FILE) }))
  const headers = { authorization: `Bearer ${await makeToken('viewer')}` }
  expect((await ask('/subjects/fil_1', { headers })).status).toBe(403)
})
