import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { AdminClient } from '../../../src/admin/client/index.ts'
import { startTestApp } from '../../support/test-app.ts'
import { startConsole } from '../support/start-console.ts'

async function openClient() {
  const started = await startTestApp()
  const token = readFileSync(join(started.dataDir, 'admin.token'), 'utf8').trim()
  return { ...started, client: new AdminClient({ url: started.urls.admin, token }) }
}

test('a fault that is set through the API strikes, and its row is in the audit log', async () => {
  const { client, sandbox, app } = await openClient()
  const body = { on: 'files.get', status: 403, times: 1, reason: 'to see the page' }
  const fault = await client.call('POST /sandbox/faults', { body })
  expect(fault).toMatchObject({ on: 'files.get', times: 1, struck: 0 })
  const { id } = await sandbox.storage('storage_a').put('/a.txt', 'a')
  const refused = client.call('GET /files/:storage/:id', { params: { storage: 'storage_a', id } })
  await expect(refused).rejects.toMatchObject({ status: 502, code: 'service_failed' })
  expect((await client.call('GET /sandbox')).faults).toMatchObject([{ struck: 1 }])
  expect(await app.store.listActions({ limit: 1 })).toMatchObject([
    { action: 'sandbox.change', target: '/faults', reason: 'to see the page', parameters: { method: 'POST' } },
  ])
})

test('the sandbox refuses a rule that could do nothing, and its reason is passed on', async () => {
  const { client } = await openClient()
  const idle = client.call('POST /sandbox/faults', { body: { on: 'delivery', status: 503 } })
  await expect(idle).rejects.toMatchObject({
    status: 400,
    message: expect.stringContaining('does nothing on delivery'),
  })
})

test('an event of the service, a file and a transfer reach the receiver as the real ones do', async () => {
  const { client, hear } = await openClient()
  const { event } = await client.call('POST /sandbox/events', { body: { type: 'file.renamed', data: { a: 1 } } })
  await hear('delivery.received', (notice) => notice.event === event)
  const params = { storage: 'storage_b' }
  await client.call('PUT /sandbox/files/:storage', { params, body: { path: '/in/a.txt', text: 'some text' } })
  const from = { storage: 'storage_b', path: '/in/a.txt' } as const
  const to = { storage: 'storage_c', path: '/in/' } as const
  const { id } = await client.call('POST /sandbox/transfers', { body: { from, to, failAt: 0.5 } })
  await hear('delivery.received', ({ type }) => type === 'transfer.failed')
  const [transfer] = (await client.call('GET /sandbox')).transfers
  expect(transfer).toMatchObject({ id, status: 'failed', from, to: { storage: 'storage_c', path: '/in/a.txt' } })
})

test('without a sandbox each call says so', async () => {
  const { ask } = await startConsole()
  const response = await ask('/sandbox')
  expect([response.status, await response.json()]).toMatchObject([503, { code: 'not_running' }])
})
