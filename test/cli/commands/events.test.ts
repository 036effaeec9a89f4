import { once } from 'node:events'
import { readFileSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { defineWorkflow } from '../../../src/author/define-workflow.ts'
import { sendEvent } from '../../../src/cli/send/send-event.ts'
import { writeRuntimeFile } from '../../../src/project/data-dir/runtime-file.ts'
import { eventBody } from '../../support/fixtures.ts'
import { opensslHmac } from '../../support/sign.ts'
import { tempFolder } from '../../support/temp-folder.ts'
import { startTestApp } from '../../support/test-app.ts'
import { WEBHOOK_SECRET } from '../../support/test-config.ts'
import { runHere } from '../support/run-here.ts'

const ship = defineWorkflow({
  id: 'ship-order',
  on: 'order.placed',
  run: async ({ event, step }) => {
    await step.run('look', () => ({ seen: event.data }), { effect: 'read', target: 'storage_a:/orders' })
    const call = ({ attempt }: { attempt: number }) => {
      if (attempt === 1) throw new Error('the line was busy')
      return attempt
    }
    return step.run('call', call, { retry: { attempts: 2, min: 0, max: 0 } })
  },
})

test('a triggered event starts a run, and runs show prints it with its failed attempt', async () => {
  const { dataDir, hear } = await startTestApp({ workflows: [ship] })
  const sets = ['--set', 'data.order.total=12', '--set', 'data.order.by=Ada']
  const sent = await runHere(dataDir, ['trigger', 'order.placed', ...sets, '--json'])
  expect(sent).toMatchObject({ exit: 0, stderr: '', json: { ok: true, data: { endpoint: 'sandbox' } } })
  const [{ event, verdict, runs }] = sent.json.data.deliveries
  expect([verdict, runs.length]).toEqual(['accepted', 1])
  await hear('run.completed', ({ run }) => run === runs[0])

  const listed = await runHere(dataDir, ['runs', 'list', '--event', event, '--status', 'completed', '--json'])
  expect(listed.json.data).toMatchObject([{ id: runs[0], workflow: 'ship-order', output: 2 }])

  const shown = await runHere(dataDir, ['--json', 'runs', 'show', runs[0]])
  expect(shown.json.data).toMatchObject({
    status: 'completed',
    createdAt: expect.stringMatching(/^\d{4}-.*Z$/),
    event: { id: event, type: 'order.placed', body: { data: { order: { total: 12, by: 'Ada' } } } },
    steps: [
      { key: 'look', effect: 'read', target: 'storage_a:/orders', attempt: 1, output: { seen: {} } },
      { key: 'call', effect: 'write', status: 'completed', attempt: 2, output: 2 },
    ],
    failures: [{ key: 'call', attempt: 1, error: { message: 'the line was busy' } }],
  })

  const told = await runHere(dataDir, ['runs', 'show', runs[0]])
  expect(told).toMatchObject({ exit: 0, stderr: '' })
  expect(told.stdout).toMatch(/status +completed\n/)
  expect(told.stdout).toMatch(/call +1 .*Error: the line was busy/)
})

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

  const ledger = await runHere(dataDir, ['deliveries', 'list', '--limit', '2', '--json'])
  expect(ledger.json.data).toMatchObject([
    { verdict: 'duplicate', endpoint: 'sandbox', eventId: deliveries[2].event },
    { verdict: 'accepted', endpoint: 'sandbox', eventId: deliveries[2].event },
  ])
  const events = await runHere(dataDir, ['events', 'list', '--type', 'order.placed'])
  expect(events.stdout.split('\n').slice(1, 3)).toEqual([
    expect.stringContaining(deliveries[2].event),
    expect.stringContaining(deliveries[0].event),
  ])
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

test('endpoints add prints a secret once, and the running receiver accepts it at once', async () => {
  const { dataDir, urls } = await startTestApp()
  const args = ['endpoints', 'add', 'shop', '--events', 'file.*,order.placed', '--header', 'X-Shop', '--json']
  const { data } = (await runHere(dataDir, args)).json
  expect(data).toMatchObject({ name: 'shop', header: 'X-Shop', events: ['file.*', 'order.placed'] })
  expect(data.url.startsWith(`${urls.receiver}/hooks/shop-`)).toBe(true)

  const body = eventBody('evt_cli', 'order.placed')
  const headers = { 'content-type': 'application/json', 'x-shop': opensslHmac(data.secret, body) }
  expect((await fetch(data.url, { method: 'POST', headers, body })).status).toBe(200)

  const later = await Promise.all([
    runHere(dataDir, ['endpoints', 'list']),
    runHere(dataDir, ['endpoints', 'list', '--json']),
    runHere(dataDir, ['trigger', 'order.placed', '--endpoint', 'shop', '--json']),
    runHere(dataDir, ['endpoints', 'add', 'shop', '--json']),
  ])
  expect(later.map(({ exit }) => exit)).toEqual([0, 0, 0, 1])
  expect(later[1]?.json.data.map(({ name }: { name: string }) => name)).toEqual(['sandbox', 'shop'])
  expect(later[2]?.json.data.deliveries).toMatchObject([{ verdict: 'accepted' }])
  expect(later[3]?.json).toMatchObject({ ok: false, error: { code: 'conflict' } })
  expect(later.filter(({ stdout, stderr }) => `${stdout}${stderr}`.includes(data.secret))).toEqual([])
  const files = ['upshot.db', 'upshot.db-wal', 'runtime.json'].map((file) =>
    readFileSync(join(dataDir, file), 'latin1'),
  )
  expect(files.filter((content) => content.includes(data.secret))).toEqual([])
})

test('endpoints add reads a secret from the environment, and does not print it', async () => {
  const secret = 'a-secret-of-the-shop-that-is-long'
  const args = ['endpoints', 'add', 'shop', '--secret-env', 'SHOP_SECRET']
  const { exit, stdout, stderr } = await runHere(tempFolder(), args, { env: { SHOP_SECRET: secret } })
  expect(exit).toBe(0)
  expect(stdout).toContain('(the one you gave)')
  expect(stdout + stderr).not.toContain(secret)
})

test('files ls lists the files of the sandbox, and says if there are more', async () => {
  const { dataDir, sandbox, urls } = await startTestApp()
  await sandbox.storage('storage_c').put('/in/one.txt', 'one')
  await sandbox.storage('storage_c').put('/in/two.txt', 'two!')
  const listed = await runHere(dataDir, ['files', 'ls', 'storage_c:/in', '--json'])
  expect(listed).toMatchObject({ exit: 0, json: { ok: true, data: [{ path: '/in/one.txt', size: 3 }, {}] } })

  const [cut, missing, status] = await Promise.all([
    runHere(dataDir, ['files', 'ls', 'Storage-C', '--recursive', '--limit', '2']),
    runHere(dataDir, ['files', 'ls', 'storage_c:/nowhere', '--json']),
    runHere(dataDir, ['status', '--json']),
  ])
  expect(cut.stdout).toMatch(/^PATH +SIZE .*\n\/in\/ .*\n\/in\/one.txt +3 B /)
  expect(cut.stderr).toContain('There are more than these 2 entries.')
  expect(missing).toMatchObject({ exit: 5, json: { ok: false, error: { code: 'not_found' } } })
  expect(status.json.data).toMatchObject({ running: true, ready: true, receiver: urls.receiver, pid: process.pid })
  expect(status.stdout).not.toContain('sk_sandbox_')
})

test('files ls uses the real service of the environment, and exits with 4 for a rejected key', async () => {
  const { sandbox } = await startTestApp()
  await sandbox.storage('storage_b').put('/in/kept.txt', 'kept')
  const { key } = await sandbox.keys.create({ name: 'cli', scope: 'read-only' })
  const env = {
    SERVICE_BASE_URL: sandbox.url,
    SERVICE_API_KEY: key,
    SERVICE_WEBHOOK_SECRET: WEBHOOK_SECRET,
    SERVICE_STORAGE_A: 'storage_a',
    SERVICE_STORAGE_B: 'storage-b',
    SERVICE_STORAGE_C: 'storage_c',
  }
  const args = ['files', 'ls', 'storage_b:/in', '--json']
  const [listed, refused, wrong] = await Promise.all([
    runHere(tempFolder(), args, { env }),
    runHere(tempFolder(), args, { env: { ...env, SERVICE_API_KEY: 'sk_sandbox_of_nobody' } }),
    runHere(tempFolder(), args, { env: { ...env, SERVICE_STORAGE_C: '' } }),
  ])
  expect(listed.json).toMatchObject({ ok: true, data: [{ path: '/in/kept.txt', service: 'storage_b' }] })
  expect(refused).toMatchObject({ exit: 4, json: { ok: false, error: { code: 'authentication' } } })
  expect(refused.stdout).not.toContain('sk_sandbox_of_nobody')
  expect(wrong).toMatchObject({ exit: 2, json: { ok: false, error: { code: 'invalid_config' } } })
  expect(wrong.json.error.message).toContain('SERVICE_STORAGE_C is missing')
})

test('files ls counts toward the rate limit that the database keeps for the key', async () => {
  const { sandbox } = await startTestApp()
  const { key } = await sandbox.keys.create({ name: 'cli', scope: 'read-only' })
  const env = {
    SERVICE_BASE_URL: sandbox.url,
    SERVICE_API_KEY: key,
    SERVICE_WEBHOOK_SECRET: WEBHOOK_SECRET,
    SERVICE_PLAN: '1',
    SERVICE_STORAGE_A: 'storage_a',
    SERVICE_STORAGE_B: 'storage_b',
    SERVICE_STORAGE_C: 'storage_c',
  }
  const dataDir = tempFolder()
  const list = () => runHere(dataDir, ['files', 'ls', 'storage_b:/', '--json'], { env })
  expect(await list()).toMatchObject({ exit: 0 })
  expect((await list()).json).toMatchObject({ ok: false, error: { code: 'local_rate_limit' } })
})

test.each([
  { args: ['evnts'], exit: 2, error: { code: 'usage', fix: 'Did you mean events?' } },
  { args: ['runs', 'lst'], exit: 2, error: { code: 'usage', fix: 'Did you mean list?' } },
  { args: ['events', 'list', '--limt', '3'], exit: 2, error: { code: 'usage', fix: 'Did you mean --limit?' } },
  { args: ['runs', 'list', '--status', 'done'], exit: 2, error: { code: 'usage' } },
  { args: [], exit: 2, error: { code: 'usage' } },
  { args: ['runs', 'show', 'run_none'], exit: 5, error: { code: 'not_found' } },
  {
    args: ['trigger', 'order.placed'],
    exit: 6,
    error: { code: 'not_running', fix: expect.stringContaining('npm start') },
  },
  { args: ['files', 'ls', 'storage_a:/'], exit: 6, error: { code: 'not_running' } },
])('without an app, "$args" exits with $exit and says what to do', async ({ args, exit, error }) => {
  const { stdout, ...result } = await runHere(tempFolder(), [...args, '--json'])
  expect(result).toMatchObject({ exit, stderr: '', json: { ok: false, error } })
  expect(result.json.error.fix).toMatch(/\S/)
  expect(stdout.trim().split('\n')).toHaveLength(1)
})

test('stdout is for data only: an empty list and an error write to stderr', async () => {
  const folder = tempFolder()
  const [empty, quiet, failed] = await Promise.all([
    runHere(folder, ['endpoints', 'list']),
    runHere(folder, ['endpoints', 'list', '--quiet']),
    runHere(folder, ['runs', 'show', 'run_none']),
  ])
  expect(empty).toMatchObject({ exit: 0, stdout: '', stderr: expect.stringContaining('upshot endpoints add') })
  expect(quiet).toMatchObject({ exit: 0, stdout: '', stderr: '' })
  expect(failed).toMatchObject({ exit: 5, stdout: '', stderr: expect.stringMatching(/^error: .*\n {2}fix: .*\n$/) })
})

test('status does not trust the runtime file of an app that crashed', async () => {
  const dataDir = tempFolder()
  const server = createServer().listen(0, '127.0.0.1')
  await once(server, 'listening')
  const gone = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  server.close()
  writeRuntimeFile(dataDir, { pid: 1, startedAt: '2026-06-01T12:00:00Z', receiver: gone, admin: gone, sandbox: null })
  expect((await runHere(dataDir, ['status', '--json'])).json).toEqual({ ok: true, data: { running: false, dataDir } })
  writeFileSync(join(dataDir, 'runtime.json'), '{ "pid": ')
  expect((await runHere(dataDir, ['status', '--json'])).json.data.running).toBe(false)
})
