import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { afterEach, expect, onTestFinished, test, vi } from 'vitest'
import { alerts } from '../config/alerts.ts'
import type { ServiceEvent } from '../src/core/incoming/event.ts'
import type { TransferRecord } from '../src/sandbox/transfers/transfer-table.ts'
import { crashEverywhere, type Testbed, testbed } from '../src/testing/index.ts'
import { follow, outputOf, override, useOutput } from '../test/support/sample-output.ts'
import workflow from './alert-failed-transfer.workflow.ts'

const out = useOutput()

const SOURCE = '/in/film.mp4'
const TARGET = '/archive/film.mp4'

/** Makes a transfer fail halfway; returns the event that the service sends about it. */
async function failTransfer(t: Testbed): Promise<ServiceEvent<string, { transfer: TransferRecord }>> {
  const sandbox = await t.sandbox()
  await t.storage('storage_a').put(SOURCE, 'a long film')
  await t.advance('1m')
  const input = { from: ['storage_a', SOURCE], to: ['storage_b', TARGET], failAt: 0.5 } as const
  const { done } = await sandbox.transfers.start({ ...input, from: [...input.from], to: [...input.to] })
  const transfer = await done
  return { ...t.emitted('transfer.failed'), data: { transfer } }
}

interface Posted {
  key: string | undefined
  body: Record<string, unknown>
}

/** Opens a receiver at `ALERT_URL` that answers with these statuses, then with 200. */
async function openReceiver(...statuses: number[]): Promise<Posted[]> {
  const posted: Posted[] = []
  const server = createServer(async (request, response) => {
    const chunks: Buffer[] = []
    for await (const chunk of request) chunks.push(chunk)
    posted.push({
      key: request.headers['idempotency-key']?.toString(),
      body: JSON.parse(Buffer.concat(chunks).toString()),
    })
    response.writeHead(statuses.shift() ?? 200, { location: '/elsewhere' }).end('thanks')
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  onTestFinished(() => {
    server.closeAllConnections()
    server.close()
  })
  override(alerts, { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/hooks/canary-secret` })
  return posted
}

test('an alert about a failed transfer is written to disk and not posted without ALERT_URL', async () => {
  await using t = await testbed({ workflows: [workflow] })
  const event = await failTransfer(t)
  const { id } = event.data.transfer
  expect(outputOf(await follow(t, event))).toEqual({
    record: join(out.path, 'alerts', `${id}.json`),
    posted: false,
  })
  expect(out.document('alerts', `${id}.json`)).toMatchObject({
    text: `Transfer ${id} failed: The transfer failed on request (failAt).`,
    event: event.id,
    transfer: { id, bytesTotal: 11, bytesDone: 5, error: { code: 'service_error' } },
    source: 'still there',
    destination: 'nothing there',
  })
  expect(out.written()).toEqual([`alerts/${id}.json`])
})

test.each<[string, (t: Testbed) => Promise<unknown>, object]>([
  ['a deleted source', (t) => t.storage('storage_a').remove(SOURCE), { source: 'gone' }],
  [
    'a partial file at the destination',
    (t) => t.storage('storage_b').put(TARGET, 'a lon'),
    { destination: '5 bytes are there' },
  ],
  [
    'another file in the folder of the destination',
    (t) => t.storage('storage_b').put('/archive/other.mp4', 'x'),
    { destination: 'nothing there' },
  ],
])('the alert mentions %s', async (_, change, facts) => {
  await using t = await testbed({ workflows: [workflow] })
  const event = await failTransfer(t)
  await change(t)
  outputOf(await follow(t, event))
  expect(out.document('alerts', `${event.data.transfer.id}.json`)).toMatchObject(facts)
})

test('the alert tells an older file at the destination from a partial one', async () => {
  await using t = await testbed({ workflows: [workflow] })
  await t.storage('storage_b').put(TARGET, 'last year')
  const event = await failTransfer(t)
  outputOf(await follow(t, event))
  const alert = out.document('alerts', `${event.data.transfer.id}.json`)
  expect(alert).toMatchObject({ destination: 'an older file is there' })
})

test('the alert goes out even if the storages do not answer', async () => {
  const posted = await openReceiver()
  await using t = await testbed({ workflows: [workflow] })
  const event = await failTransfer(t)
  await t.faults.add({ on: '*', status: 502 })
  expect(outputOf(await follow(t, event))).toMatchObject({ posted: true })
  expect(posted[0]?.body).toMatchObject({
    source: expect.stringMatching(/^unknown: /),
    destination: expect.stringMatching(/^unknown: /),
  })
})

test('the alert carries an idempotency key for its receiver', async () => {
  const posted = await openReceiver()
  await using t = await testbed({ workflows: [workflow] })
  const event = await failTransfer(t)
  const run = await follow(t, event)
  expect(outputOf(run)).toMatchObject({ posted: true })
  expect(posted).toEqual([
    { key: `${run.id}/post alert`, body: out.document('alerts', `${event.data.transfer.id}.json`) },
  ])
})

test('the alert is posted again with the same key while its receiver fails', async () => {
  const posted = await openReceiver(500, 429, 503)
  await using t = await testbed({ workflows: [workflow] })
  expect(outputOf(await follow(t, await failTransfer(t)))).toMatchObject({ posted: true })
  expect(posted).toHaveLength(4)
  expect(new Set(posted.map(({ key }) => key)).size).toBe(1)
})

test.each([400, 404, 410, 302])(
  'the alert is not posted again after an answer %i, and its record stays',
  async (status) => {
    const posted = await openReceiver(status)
    await using t = await testbed({ workflows: [workflow] })
    out.renew()
    const event = await failTransfer(t)
    const run = await follow(t, event)
    expect(run).toMatchObject({ status: 'failed', error: { message: expect.stringContaining(String(status)) } })
    expect(posted).toHaveLength(1)
    expect(out.document('alerts', `${event.data.transfer.id}.json`)).not.toBeNull()
  },
)

test('ALERT_URL, which may contain a secret, appears in no journal, log or record', async () => {
  await openReceiver(500, 400)
  await using t = await testbed({ workflows: [workflow] })
  const heard: unknown[] = []
  t.notices.subscribe('*', (notice) => void heard.push(notice))
  const event = await failTransfer(t)
  const run = await follow(t, event)
  const kept = [run, run.steps(), run.logs(), heard]
  const record = out.document('alerts', `${event.data.transfer.id}.json`)
  expect(JSON.stringify([kept, record])).not.toContain('canary-secret')
})

test('P6: the alert has one key and one record wherever the app crashes', { timeout: 60_000 }, async () => {
  const { writes } = await crashEverywhere({ workflows: [workflow] }, async (t) => {
    const posted = await openReceiver()
    out.renew()
    const event = await failTransfer(t)
    expect(outputOf(await follow(t, event))).toMatchObject({ posted: true })
    expect(new Set(posted.map((each) => JSON.stringify(each))).size).toBe(1)
    expect(out.written()).toEqual([`alerts/${event.data.transfer.id}.json`])
  })
  expect(writes).toBe(5)
})

test('a run of the alert workflow waits for a person when its event does not fit the schema', async () => {
  await using t = await testbed({ workflows: [workflow] })
  const event = { ...(await failTransfer(t)), data: { transferId: 'trf_1' } }
  expect(await follow(t, event)).toMatchObject({
    status: 'waiting',
    dueAt: null,
    reason: expect.stringContaining('data.transfer'),
  })
})

afterEach(() => {
  vi.unstubAllEnvs()
  // The module that refused its URL must not be met by the files after this one.
  vi.resetModules()
})

test.each(['chat.example.org/T1', 'ftp://example.org/T1', 'https://user:pass@example.org/T1', 'https://:0/T1'])(
  'ALERT_URL must not be %s, and the error does not repeat it',
  async (value) => {
    vi.stubEnv('ALERT_URL', value)
    vi.resetModules()
    const loading = import('../config/alerts.ts')
    await expect(loading).rejects.toThrow(/^ALERT_URL is not valid/)
    await expect(loading).rejects.not.toThrow('T1')
  },
)
