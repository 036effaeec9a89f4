import { expect, test } from 'vitest'
import { defineWorkflow } from '../../src/author/index.ts'
import { KEEP_ALL } from '../../src/core/store/retention.ts'
import { openAdmin } from '../support/admin-client.ts'
import { startTestApp } from '../support/test-app.ts'
import { startConsole, testSurroundings } from './support/start-console.ts'

test('a prune removes what is older than its age, and its row says who asked and for what', async () => {
  const quick = defineWorkflow({ id: 'quick', on: 'order.made', run: async () => 'done' })
  const retention = { ...KEEP_ALL, runs: 1 }
  const { app, urls, dataDir, hear } = await startTestApp({ workflows: [quick] }, { config: { retention } })
  const client = openAdmin(dataDir, urls.admin)
  await client.call('POST /events', { body: { type: 'order.made', data: {} } })
  const { run } = await hear('run.completed')
  const [bound] = (await client.call('GET /retention')).items
  expect(bound).toMatchObject({ kind: 'runs', ageMs: 1, before: expect.any(String) })
  const foreseen = { kind: 'runs', rows: 1, isComplete: true, bytes: null, weeks: null }
  expect(await client.call('GET /retention/prunable')).toEqual({ items: [foreseen] })
  expect((await client.call('POST /retention/prune', { body: { reason: 'the disk' } })).pruned.runs).toBe(1)
  expect(await app.store.findRun(run)).toBeNull()
  expect(await app.store.listActions({ action: 'db.prune', limit: 2 })).toMatchObject([
    { actor: 'token:admin.token', reason: 'the disk', outcome: 'begun', parameters: retention },
  ])
})

test('a second prune is refused while one is under way, and only an admin may ask for one', async () => {
  const begun = Promise.withResolvers<void>()
  const ended = Promise.withResolvers<void>()
  const counts = { runs: 7, failures: 0, refusals: 0, deliveries: 0, payloads: 0, audit: 0, effects: 0, files: 0 }
  const prune = async () => {
    begun.resolve()
    await ended.promise
    return counts
  }
  const { ask, get, makeToken } = await startConsole({ surroundings: { ...testSurroundings(), prune } })
  const post = (headers = {}) => ask('/retention/prune', { method: 'POST', body: '{}', headers })
  const first = post()
  await begun.promise
  expect((await get('/retention')).isPruning).toBe(true)
  expect((await post()).status).toBe(409)
  expect((await post({ authorization: `Bearer ${await makeToken('operator')}` })).status).toBe(403)
  ended.resolve()
  expect(await (await first).json()).toEqual({ pruned: counts })
  expect((await get('/retention')).isPruning).toBe(false)
})
