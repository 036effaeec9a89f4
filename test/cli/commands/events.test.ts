import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { sendEvent } from '../../../src/app/deliver.ts'
import { eventBody, incoming } from '../../support/fixtures.ts'
import { tempFolder } from '../../support/temp-folder.ts'
import { startTestApp } from '../../support/test-app.ts'
import { runHere } from '../support/run-here.ts'
import { openTestProject } from '../support/test-project.ts'

test('trigger --duplicate sends each event twice, with data from a file', async () => {
  const { dataDir } = await startTestApp()
  const file = join(tempFolder(), 'event.json')
  writeFileSync(file, '{"data":{"order":7}}')
  const args = ['trigger', 'order.placed', '--duplicate', '--count', '2', '--file', file, '--json']
  const { json, exit } = await runHere(dataDir, args)
  expect(exit).toBe(0)
  const { deliveries } = json.data
  expect(deliveries.map(({ verdict }: { verdict: string }) => verdict)).toEqual([
    'accepted',
    'duplicate',
    'accepted',
    'duplicate',
  ])
  expect([deliveries[0].event, deliveries[2].event]).toEqual([deliveries[1].event, deliveries[3].event])
  expect(deliveries[0].event).not.toBe(deliveries[2].event)

  // The events of the sandbox's first files may come at any moment.
  const ledger = (await runHere(dataDir, ['deliveries', 'list', '--json'])).json.data
  const own = ledger.filter(({ eventId }: { eventId: string }) => eventId === deliveries[2].event)
  expect(own).toMatchObject([
    { verdict: 'duplicate', endpoint: 'sandbox', eventId: deliveries[2].event },
    { verdict: 'accepted', endpoint: 'sandbox', eventId: deliveries[2].event },
  ])
  const events = await runHere(dataDir, ['events', 'list', '--type', 'order.placed'])
  expect(events.stdout.split('\n').slice(1, 3)).toEqual([
    expect.stringContaining(deliveries[2].event),
    expect.stringContaining(deliveries[0].event),
  ])
})

test('trigger --dry-run says what it would send, and sends nothing', async () => {
  const { dataDir } = await startTestApp()
  const dry = ['trigger', 'order.placed', '--set', 'data.order=7', '--duplicate', '--dry-run']
  const { exit, stdout, stderr } = await runHere(dataDir, dry)
  expect([exit, stdout]).toEqual([0, 'This would send 1 event of type order.placed, each twice.\n'])
  expect(stderr).toContain('"order":7')
  expect((await runHere(dataDir, ['events', 'list', '--type', 'order.placed', '--json'])).json.data).toEqual([])
})

test('trigger of an event that starts nothing says that runs may still wait for it', async () => {
  const { dataDir } = await startTestApp()
  const { exit, stderr } = await runHere(dataDir, ['trigger', 'order.stopped'])
  expect([exit, stderr]).toEqual([0, expect.stringContaining('A run that waits for it, or that it cancels, gets it.')])
})

test('a refused signature and a receiver that is gone give different errors', async () => {
  const { app, urls } = await startTestApp()
  const [endpoint] = await app.store.listEndpoints()
  if (!endpoint) throw new Error('the app has no endpoint')
  const forged = {
    ...endpoint,
    secrets: [{ position: 0, value: 'another-secret-of-the-tests', activeFrom: 0, until: null }],
  }
  const event = JSON.parse(eventBody('evt_forged'))
  const at = { receiver: urls.receiver, now: Date.now(), signal: new AbortController().signal }
  await expect(sendEvent(event, { ...at, endpoint: forged })).rejects.toMatchObject({ code: 'invalid_signature' })
  await app.stop()
  await expect(sendEvent(event, { ...at, endpoint })).rejects.toMatchObject({ code: 'not_running' })
})

test('show --data prints data of any size, and show says so where it has no room for it', async () => {
  const { dataDir } = await startTestApp()
  const file = join(tempFolder(), 'event.json')
  const data = { text: 'x'.repeat(900_000) }
  writeFileSync(file, JSON.stringify(data))
  const sent = await runHere(dataDir, ['trigger', 'order.placed', '--file', file, '--json'])
  const [{ event }] = sent.json.data.deliveries
  expect((await runHere(dataDir, ['events', 'show', event])).stdout).toContain(`upshot events show ${event} --data`)
  expect((await runHere(dataDir, ['events', 'show', event, '--data', '--json'])).json.data).toEqual(data)
})

test('events list finds events by path, words, account, family and moment', async () => {
  const { store, cli } = await openTestProject()
  const now = Date.now()
  const save = (id: string, type: string, data: object, part: { account?: string; receivedAt?: number } = {}) =>
    store.saveDelivery(
      incoming(id, { body: eventBody(id, type, data), workflows: [], receivedAt: now, account: 'default', ...part }),
    )
  await save(
    'evt_old',
    'file.created',
    { service: 'storage_a', file: { path: '/in/a.pdf' } },
    { receivedAt: now - 7_200_000 },
  )
  await save('evt_b', 'file.deleted', { service: 'storage_b', file: { path: '/in/b.pdf' } }, { account: 'second' })
  await save('evt_c', 'transfer.completed', { note: 'ledger done' })
  const find = async (...args: string[]) =>
    (await cli('events', 'list', ...args)).json.data.map(({ id }: { id: string }) => id)
  expect(await find('--path', 'storage_a:/in/*')).toEqual(['evt_old'])
  expect(await find('--path', '/in/*')).toEqual(['evt_b', 'evt_old'])
  expect(await find('--text', 'done LEDGER')).toEqual(['evt_c'])
  expect(await find('--account', 'second')).toEqual(['evt_b'])
  expect(await find('--type', 'file.*')).toEqual(['evt_b', 'evt_old'])
  expect(await find('--since', '1h')).toEqual(['evt_c', 'evt_b'])
  expect(await find('--until', '1h')).toEqual(['evt_old'])
  expect(await cli('events', 'list', '--path', 'in')).toMatchObject({ exit: 2, json: { error: { code: 'usage' } } })
})

test('trigger sends the data of a real file of the sandbox, so that a workflow can follow it', async () => {
  const { app, dataDir, sandbox } = await startTestApp()
  // The sandbox's own first transfer makes events, too.
  await expect.poll(() => sandbox.events.list({ type: 'transfer.completed' })).toHaveLength(1)
  const { id } = await sandbox.storage('storage_a').put('/in/real.txt', 'x')
  const sent = await runHere(dataDir, ['trigger', 'file.created', '--set', 'data.note=mine', '--json'])
  const [{ event }] = sent.json.data.deliveries
  const [stored] = await app.store.findEvents(event)
  expect(JSON.parse(stored?.body ?? '').data).toMatchObject({ file: { id, path: '/in/real.txt' }, note: 'mine' })
  const made = await runHere(dataDir, ['trigger', 'order.placed', '--json'])
  expect(made.json.data.deliveries).toMatchObject([{ verdict: 'accepted' }])
})
