import { readdirSync } from 'node:fs'
import { createServer } from 'node:http'
import { expect, test } from 'vitest'
import { defineWorkflow } from '../../../../src/author/define-workflow.ts'
import type { ProbeCheck } from '../../../../src/sandbox/index.ts'
import { openReceiver } from '../../../sandbox/support/open-receiver.ts'
import { listen } from '../../../support/listen.ts'
import { tempFolder } from '../../../support/temp-folder.ts'
import { startTestApp } from '../../../support/test-app.ts'
import { runHere } from '../../support/run-here.ts'
import { openSandboxCommand } from '../../support/sandbox-command.ts'

test('sandbox keys are created with any scope, listed without their values, and revoked', async () => {
  const { sandbox, run, json } = await openSandboxCommand()
  const made = (await json('key', 'new', 'a client', '--scope', 'read-only')).data
  expect(sandbox.keys.list()).toMatchObject([{ name: 'a client', scope: 'read-only', key: made.key }])
  await json('key', 'new', 'custom', '--permission', 'files:read', '--storage', 'storage_b')
  const text = await run('key', 'list')
  expect(text.stdout).toMatch(/a client +read-only/)
  expect(text.stdout).toContain('files:read on storage_b')
  expect(JSON.stringify((await json('key', 'list')).data) + text.stdout).not.toContain(made.key)
  expect(await run('key', 'revoke', made.id)).toMatchObject({ exit: 3 })
  expect(sandbox.keys.get(made.id).revokedAt).toBeNull()
  expect((await json('key', 'revoke', made.id.slice(0, 17), '--yes')).data).toMatchObject({ revoked: true })
  expect(sandbox.keys.get(made.id).revokedAt).not.toBeNull()
  expect((await run('key', 'revoke', 'key_none', '--yes')).exit).toBe(5)
  expect((await run('key', 'new', 'x', '--scope', 'admin', '--permission', 'files:read')).exit).toBe(2)
})

test('the sandbox clock is advanced and set back to real time', async () => {
  const { sandbox, run, json } = await openSandboxCommand()
  const before = sandbox.clock.now()
  expect((await json('clock', 'advance', '2h')).data).toMatchObject({ mode: 'manual' })
  expect(sandbox.clock.now()).toBe(before + 7_200_000)
  expect((await run('clock', 'show')).stdout).toMatch(/stands still, .* ahead of this machine/)
  expect((await run('clock', 'advance', 'soon')).exit).toBe(2)
  expect((await json('clock', 'real')).data).toMatchObject({ mode: 'real' })
  expect(Math.abs(sandbox.clock.now() - Date.now())).toBeLessThan(60_000)
})

test('sandbox settings are shown and changed', async () => {
  const { sandbox, run, json } = await openSandboxCommand()
  expect((await json('settings', 'plan=pro', 'deleteFolders=true')).data).toMatchObject({ deleteFolders: true })
  expect(sandbox.settings.get()).toMatchObject({ plan: 'pro', deleteFolders: true })
  expect((await run('settings')).stdout).toMatch(/plan +pro/)
  expect((await run('settings', 'plan=gold')).exit).toBe(2)
  expect((await run('settings', 'plan')).exit).toBe(2)
})

test('sandbox audit lists the mistakes of clients, and exits with 7', async () => {
  const { sandbox, run, json } = await openSandboxCommand()
  const { key } = await sandbox.keys.create({ name: 'client' })
  expect((await run('audit')).exit).toBe(0)
  await fetch(`${sandbox.url}/files?service=storage_a&limit=500`, { headers: { authorization: `Bearer ${key}` } })
  expect(await run('audit')).toMatchObject({ exit: 7, stdout: expect.stringContaining('limit_over_100') })
  expect((await json('audit', '--requests')).data).toMatchObject([{ operation: 'files.list', status: 400 }])
})

test('snapshots are restored, and the sandbox is reset, only after a confirmation', async () => {
  const { sandbox, run, json } = await openSandboxCommand()
  await sandbox.storage('storage_a').put('/then.txt', 'then')
  expect((await json('snapshot', 'save', 'then')).data).toEqual({ name: 'then', saved: true, replaced: false })
  await sandbox.storage('storage_a').put('/now.txt', 'now')
  expect((await run('snapshot', 'save', 'then')).exit).toBe(3)
  expect((await json('snapshot', 'list')).data).toEqual(['then'])
  expect((await run('snapshot', 'load', 'then')).exit).toBe(3)
  expect((await run('snapshot', 'load', 'never', '--yes')).exit).toBe(5)
  expect(sandbox.storage('storage_a').list()).toHaveLength(2)
  await json('snapshot', 'load', 'then', '--yes')
  expect(sandbox.storage('storage_a').list()).toHaveLength(1)

  await sandbox.keys.create({ name: 'of a client' })
  const asked = await run('reset')
  expect(asked).toMatchObject({ exit: 3, stderr: expect.stringContaining('storage_a: 1 files (4 B)') })
  expect((await json('reset', '--yes', '--keep-access')).data).toEqual({ reset: true, keptAccess: true })
  expect(sandbox.keys.list()).toHaveLength(1)
  await json('reset', '--yes')
  expect([sandbox.keys.list(), sandbox.storage('storage_a').list()]).toEqual([[], []])
})

test('sandbox transfer transfers files and folders, and exits with 7 and the file name on failure', async () => {
  const { sandbox, run, json } = await openSandboxCommand()
  await sandbox.storage('storage_a').put('/in/a.txt', '0123456789')
  await sandbox.storage('storage_a').put('/in/b.txt', '0123456789')
  const done = await run('transfer', 'start', 'storage_a:/in', 'storage_b:/archive/')
  expect(done).toMatchObject({ exit: 0, stdout: expect.stringMatching(/completed\n2 of 2 files, 20 B of 20 B\n$/) })
  const failed = await run('transfer', 'start', 'storage_a:/in', 'storage_c:/', '--fail-at', '0.75')
  expect(failed).toMatchObject({ exit: 7, stdout: expect.stringContaining('It was at /in/b.txt.') })
  const kept = await json('transfer', 'start', 'storage_a:/in', 'storage_b:/archive/', '--existing', 'keep')
  expect(kept.data).toMatchObject({ status: 'completed', filesKept: 2 })
  expect((await json('transfer', 'list', '--limit', '2')).data).toMatchObject([{ filesKept: 2 }, { status: 'failed' }])
  expect((await run('transfer', 'start', 'storage_a:/none', 'storage_b:/')).exit).toBe(5)

  await sandbox.storage('storage_a').put('/big.bin', Buffer.alloc(40_000_000))
  const { id } = await sandbox.transfers.start({ from: ['storage_a', '/big.bin'], to: ['storage_b', '/'] })
  expect((await json('transfer', 'cancel', id.slice(0, 17), '--dry-run')).data).toMatchObject({ done: false })
  await sandbox.transfers.cancel(id).catch(() => null)
  expect((await run('transfer', 'cancel', id.slice(0, 17))).exit).toBe(1)
  const begun = await json('transfer', 'start', 'storage_a:/in/a.txt', 'storage_b:/', '--detach')
  expect(begun.data).toMatchObject({ status: 'queued' })
})

test('webhooks are registered and removed, and missed events are resent and backfilled', async () => {
  const { sandbox, run, json } = await openSandboxCommand()
  const receiver = await openReceiver()
  const webhook = (await json('webhook', 'add', receiver.url, '--events', 'file.*', '--storage', 'storage_a')).data
  expect(webhook).toMatchObject({ events: ['file.*'], storages: ['storage_a'], secrets: 1, secret: expect.any(String) })
  expect((await run('webhook', 'list')).stdout).not.toContain(webhook.secret)
  await sandbox.storage('storage_a').put('/a.txt', 'a')
  const [first] = await sandbox.deliveries.until({ state: 'delivered' })
  const list = await run('deliveries', 'list', '--state', 'delivered', '--webhook', receiver.url)
  expect(list.stdout).toMatch(/file\.created +delivered +event +1 +200/)
  // The beginning of an id is enough.
  const short = first?.eventId.slice(0, 17) ?? ''
  expect((await json('deliveries', 'resend', short)).data).toMatchObject([{ cause: 'resend' }])
  await sandbox.deliveries.until({ state: 'delivered', count: 2 })
  expect((await json('deliveries', 'list', '--event', short)).data).toMatchObject([{ cause: 'resend' }, {}])

  await sandbox.webhooks.enable(webhook.id, false)
  await sandbox.storage('storage_a').put('/missed.txt', 'missed')
  await sandbox.webhooks.enable(webhook.id, true)
  expect((await json('deliveries', 'backfill', webhook.id.slice(0, 17), '--since', '1h')).data).toMatchObject({
    queued: 1,
  })
  await sandbox.deliveries.until({ state: 'delivered', count: 3 })
  expect((await json('deliveries', 'list', '--limit', '1')).data).toMatchObject([{ cause: 'backfill' }])
  expect((await run('deliveries', 'resend', 'evt_none')).exit).toBe(5)

  expect((await run('webhook', 'remove', webhook.id)).exit).toBe(3)
  expect((await json('webhook', 'remove', webhook.id, '--yes')).data).toMatchObject({ removed: true })
  expect((await run('deliveries', 'resend', first?.eventId ?? '')).exit).toBe(5)
  const given = await runHere(
    tempFolder(),
    ['sandbox', 'webhook', 'add', receiver.url, '--secret-env', 'S', '--url', sandbox.url],
    {
      env: { S: 'a secret from the environment' },
    },
  )
  expect(given.stdout).not.toContain('secret')
  expect(sandbox.webhooks.list()).toMatchObject([{ secrets: ['a secret from the environment'] }])
})

test('sandbox probe finds an endpoint by name, and sandbox reset keeps the access of the app', async () => {
  const everything = defineWorkflow({ id: 'note', on: 'file.created', run: () => 'noted' })
  const { dataDir, sandbox, hear, urls } = await startTestApp({ workflows: [everything] })
  const upshot = (...args: string[]) => runHere(dataDir, ['sandbox', ...args, '--json'])
  const probe = await upshot('probe', 'sandbox')
  expect(probe.json.data.checks.filter(({ passed }: ProbeCheck) => !passed)).toEqual([])
  expect(probe).toMatchObject({ exit: 0, json: { data: { passed: true, url: urls.endpoints.sandbox } } })
  expect((await upshot('probe', 'nobody')).exit).toBe(5)

  await sandbox.storage('storage_a').put('/lost.txt', 'x')
  expect((await upshot('reset', '--yes')).json.data).toEqual({ reset: true, keptAccess: true })
  expect(readdirSync(sandbox.storage('storage_a').dir)).toEqual([])
  expect(sandbox.settings.get().plan).toBe('enterprise')
  await sandbox.storage('storage_a').put('/after.txt', 'x')
  const { id } = sandbox.events.list()[0] ?? { id: '' }
  expect(await hear('delivery.received', ({ event }) => event === id)).toMatchObject({ verdict: 'accepted' })
})

test('sandbox probe exits with 7 if the receiver fails a check', async () => {
  const { sandbox, run } = await openSandboxCommand()
  const careless = await openReceiver()
  await sandbox.webhooks.add({ url: careless.url })
  expect(await run('probe', careless.url)).toMatchObject({
    exit: 7,
    stdout: expect.stringMatching(/forged +refused +200 +no/),
  })
})

test('sandbox commands send nothing but a health check to a server that is not a sandbox', async () => {
  const asked: string[] = []
  const server = createServer((request, response) => {
    asked.push(`${request.method} ${request.url}`)
    response.end('{"data":{"status":"fine"}}')
  })
  const url = await listen(server)
  const stranger = await runHere(tempFolder(), ['sandbox', 'reset', '--yes', '--url', url, '--json'])
  expect(stranger).toMatchObject({ exit: 2, json: { error: { code: 'invalid_request' } } })
  expect(asked).toEqual(['GET /_sandbox/health'])
  const nobody = await runHere(tempFolder(), ['sandbox', 'status', '--url', 'http://127.0.0.1:9', '--json'])
  expect(nobody).toMatchObject({ exit: 6, json: { error: { code: 'not_running' } } })
  expect((await runHere(tempFolder(), ['sandbox', 'status', '--url', 'nonsense', '--json'])).exit).toBe(2)
})

test('a change of the sandbox of an app is in the audit log before it is asked for', async () => {
  const { dataDir } = await startTestApp()
  expect(await runHere(dataDir, ['sandbox', 'settings', 'plan=gold', '--json'])).toMatchObject({ exit: 2 })
  const { json } = await runHere(dataDir, ['audit', 'list', '--limit', '1', '--json'])
  expect(json).toMatchObject({ data: [{ action: 'sandbox.change', target: '/settings', outcome: 'begun' }] })
})
