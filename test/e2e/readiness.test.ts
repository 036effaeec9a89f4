import Database from 'better-sqlite3'
import { expect, test } from 'vitest'
import { defineWorkflow } from '../../src/author/define-workflow.ts'
import { currentSecret, planEndpoint } from '../../src/core/incoming/endpoint.ts'
import { SCHEME_PRESETS } from '../../src/core/incoming/signature.ts'
import { sqliteOptions } from '../../src/project/data-dir/open-store.ts'
import { postDelivery } from '../support/post-delivery.ts'
import { tempFolder } from '../support/temp-folder.ts'
import { startTestApp } from '../support/test-app.ts'
import { testConfig } from '../support/test-config.ts'

const OK = { migrated: 'ok', writable: 'ok', endpoints: 'ok', app: 'ok' }

async function ask(admin: string) {
  const answer = await fetch(`${admin}/readyz`)
  return { status: answer.status, ...((await answer.json()) as { ready: boolean; checks: Record<string, string> }) }
}

test('an app is not ready while an endpoint refuses deliveries signed with its own secret', async () => {
  const { app, urls, sandbox, hear } = await startTestApp()
  await hear('delivery.received')
  const broken = { ...planEndpoint({ name: 'odd' }, 0), scheme: { ...SCHEME_PRESETS.hex, header: 'Content-Type' } }
  await app.store.addEndpoint(broken)
  expect(await ask(urls.admin)).toMatchObject({
    status: 503,
    ready: false,
    checks: { ...OK, endpoints: expect.stringContaining('"odd" answers') },
  })
  await app.store.updateEndpoint({ ...broken, scheme: SCHEME_PRESETS.timestamped })
  expect(await ask(urls.admin)).toEqual({ status: 200, ready: true, checks: OK, warnings: [] })
  // The probes left no rows: all events came from the sandbox.
  const known = new Set(sandbox.events.list().map((event) => event.id))
  for (const event of await app.store.listEvents({ limit: 100 })) expect(known).toContain(event.id)
  expect((await app.store.listDeliveries({ limit: 100 })).every((row) => row.verdict === 'accepted')).toBe(true)
})

test('an app is not ready after a newer Upshot has migrated its database', async () => {
  const dataDir = tempFolder()
  const { urls } = await startTestApp({}, { dataDir })
  const db = new Database(sqliteOptions(testConfig(dataDir)).file)
  const schema = db.pragma('user_version', { simple: true })
  db.pragma('user_version = 99')
  expect(await ask(urls.admin)).toMatchObject({ status: 503, checks: { migrated: expect.stringContaining('newer') } })
  db.pragma(`user_version = ${schema}`)
  db.close()
  expect((await ask(urls.admin)).ready).toBe(true)
})

test('an app that drains is not ready and takes no delivery, and answers until its last step has ended', async () => {
  const arrived = Promise.withResolvers<void>()
  const gate = Promise.withResolvers<void>()
  const slow = defineWorkflow({
    id: 'slow',
    on: 'file.created',
    // A stop waits for steps, not for other code of a workflow.
    run: ({ step }) =>
      step.run('work', async () => {
        arrived.resolve()
        await gate.promise
      }),
  })
  const { app, urls, sandbox } = await startTestApp({ workflows: [slow] })
  const [endpoint] = await app.store.listEndpoints()
  const deliver = (id: string) =>
    postDelivery(urls.endpoints.sandbox ?? '', endpoint === undefined ? '' : currentSecret(endpoint), id)
  await sandbox.storage('storage_a').put('/x.txt', 'x')
  await arrived.promise
  const stopped = app.stop()
  expect(await deliver('evt_late')).toEqual({ status: 503, retryAfter: 2 })
  expect(await ask(urls.admin)).toMatchObject({ status: 503, checks: { app: 'stopping' } })
  gate.resolve()
  await stopped
  await expect(fetch(`${urls.admin}/readyz`)).rejects.toThrow()
  await expect(deliver('evt_later')).rejects.toThrow()
})
