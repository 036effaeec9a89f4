import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, readdirSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join, resolve } from 'node:path'
import { createInterface } from 'node:readline'
import { expect, onTestFinished, test, vi } from 'vitest'
import { defineWorkflow } from '../../../src/author/define-workflow.ts'
import type { ProbeCheck } from '../../../src/sandbox/index.ts'
import { openReceiver } from '../../sandbox/support/open-receiver.ts'
import { openSandbox } from '../../sandbox/support/open-sandbox.ts'
import { tempFolder } from '../../support/temp-folder.ts'
import { startTestApp } from '../../support/test-app.ts'
import { runCli } from '../support/run-cli.ts'
import { runHere } from '../support/run-here.ts'

// Many commands a test, some in processes of their own.
vi.setConfig({ testTimeout: 120_000 })

const MAIN = resolve(import.meta.dirname, '../../../src/cli/main.ts')

/** A sandbox of this process, and `upshot sandbox` that is told where it is. */
async function openWithCommand() {
  const sandbox = await openSandbox()
  const folder = tempFolder()
  const run = (...args: string[]) => runHere(folder, ['sandbox', ...args, '--url', sandbox.url])
  const json = async (...args: string[]) => (await run(...args, '--json')).json
  return { sandbox, folder, run, json }
}

/** `upshot sandbox start` in a process of its own; `facts` is what it printed first. */
async function startAlone(dataDir: string, args: readonly string[] = []) {
  const child = spawn(process.execPath, [MAIN, 'sandbox', 'start', '--port', '0', '--download-port', '0', ...args], {
    env: { PATH: process.env.PATH, UPSHOT_DATA_DIR: dataDir },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  onTestFinished(() => void child.kill('SIGKILL'))
  const exited = once(child, 'exit')
  let errors = ''
  child.stderr.on('data', (chunk) => {
    errors += chunk
  })
  const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]()
  const first = await lines.next()
  return { child, exited, lines, facts: JSON.parse(first.value ?? '{}').data, errors: () => errors }
}

test('runs alone, is found by the other commands, and goes on after Ctrl-C where it was', async () => {
  const dataDir = tempFolder()
  const first = await startAlone(dataDir, ['--json', '--plan', 'pro', '--seed', '7'])
  expect(first.facts).toMatchObject({
    url: expect.stringMatching(/^http:\/\/127\.0\.0\.1:\d+\/v1$/),
    ...{ plan: 'pro', form: 'primary', clock: 'real', key: expect.stringMatching(/^sk_sandbox_\w{32}$/) },
  })
  const list = await fetch(`${first.facts.url}/files?service=storage_a`, {
    headers: { authorization: `Bearer ${first.facts.key}` },
  })
  expect(list.status).toBe(200)
  const status = await runHere(dataDir, ['sandbox', 'status', '--json'])
  expect(status.json.data).toMatchObject({ url: first.facts.url, keys: 1, settings: { plan: 'pro' } })
  const put = await runCli(dataDir, ['sandbox', 'storage', 'put', '-', 'storage_a:/in/kept.txt'], { input: 'kept' })
  expect(put).toMatchObject({ exit: 0, stdout: expect.stringContaining('storage_a:/in/kept.txt') })

  first.child.kill('SIGINT')
  expect(await first.exited).toEqual([0, null])
  expect((await first.lines.next()).done).toBe(true)
  expect(first.errors()).not.toContain(first.facts.key)
  expect(existsSync(join(dataDir, 'sandbox', 'sandbox.json'))).toBe(false)
  const gone = await runHere(dataDir, ['sandbox', 'status', '--json'])
  expect(gone).toMatchObject({ exit: 6, json: { error: { code: 'not_running' } } })

  const second = await startAlone(dataDir, ['--json'])
  expect(second.facts.plan).toBe('pro')
  const kept = await runHere(dataDir, ['sandbox', 'storage', 'ls', 'storage_a:/in', '--json'])
  expect(kept.json.data).toMatchObject([{ path: '/in/kept.txt', size: 4 }])
  second.child.kill('SIGTERM')
  expect(await second.exited).toEqual([0, null])
})

test('refuses a second one on the same folder, and is found by its folder', async () => {
  const dir = tempFolder()
  const { facts, child, exited } = await startAlone(tempFolder(), ['--json', '--dir', dir, '--clock', 'manual'])
  expect(facts).toMatchObject({ dir, storages: join(dir, 'storages'), clock: 'manual' })
  const other = await runCli(tempFolder(), ['sandbox', 'start', '--dir', dir, '--port', '0', '--json'])
  expect(other).toMatchObject({ exit: 1, json: { error: { code: 'conflict' } } })
  const found = await runHere(tempFolder(), ['sandbox', 'clock', 'show', '--dir', dir, '--json'])
  expect(found.json.data).toMatchObject({ mode: 'manual' })
  child.kill('SIGINT')
  await exited
})

test('talks to nothing that is no sandbox', async () => {
  const asked: string[] = []
  const server = createServer((request, response) => {
    asked.push(`${request.method} ${request.url}`)
    response.end('{"data":{"status":"fine"}}')
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  onTestFinished(() => void server.close())
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  const stranger = await runHere(tempFolder(), ['sandbox', 'reset', '--yes', '--url', url, '--json'])
  expect(stranger).toMatchObject({ exit: 2, json: { error: { code: 'invalid_request' } } })
  expect(asked).toEqual(['GET /_sandbox/health'])
  const nobody = await runHere(tempFolder(), ['sandbox', 'status', '--url', 'http://127.0.0.1:9', '--json'])
  expect(nobody).toMatchObject({ exit: 6, json: { error: { code: 'not_running' } } })
  expect((await runHere(tempFolder(), ['sandbox', 'status', '--url', 'nonsense', '--json'])).exit).toBe(2)
})

test('makes keys of every scope, lists them without themselves, and revokes them', async () => {
  const { sandbox, run, json } = await openWithCommand()
  const made = (await json('key', 'new', 'a client', '--scope', 'read-only')).data
  expect(sandbox.keys.list()).toMatchObject([{ name: 'a client', scope: 'read-only', key: made.key }])
  await json('key', 'new', 'custom', '--permission', 'files:read', '--storage', 'storage_b')
  const text = await run('key', 'list')
  expect(text.stdout).toMatch(/a client +read-only/)
  expect(text.stdout).toContain('files:read on storage_b')
  expect(JSON.stringify((await json('key', 'list')).data) + text.stdout).not.toContain(made.key)
  expect(await run('key', 'revoke', made.id)).toMatchObject({ exit: 3 })
  expect(sandbox.keys.get(made.id).revokedAt).toBeNull()
  expect((await json('key', 'revoke', made.id, '--yes')).data).toMatchObject({ revoked: true })
  expect(sandbox.keys.get(made.id).revokedAt).not.toBeNull()
  expect((await run('key', 'revoke', 'key_none', '--yes')).exit).toBe(5)
  expect((await run('key', 'new', 'x', '--scope', 'admin', '--permission', 'files:read')).exit).toBe(2)
})

test('puts, lists and removes files as somebody else would', async () => {
  const { sandbox, folder, run, json } = await openWithCommand()
  const file = join(folder, 'report.pdf')
  writeFileSync(file, 'a report')
  expect((await json('storage', 'put', file, 'storage_a:/in/')).data).toMatchObject({ path: '/in/report.pdf', size: 8 })
  await json('storage', 'put', file, 'storage_a:/in/deep/named.pdf')
  expect((await json('storage', 'ls', 'storage_a:/in')).data).toMatchObject([
    { path: '/in/deep', type: 'folder' },
    { path: '/in/report.pdf', size: 8 },
  ])
  expect((await json('storage', 'ls', 'storage-a', '--recursive')).data).toHaveLength(4)
  expect((await run('storage', 'ls', 'storage_a:/none')).exit).toBe(5)
  expect((await run('storage', 'put', join(folder, 'none'), 'storage_a:/')).exit).toBe(2)
  expect((await run('storage', 'put', folder, 'storage_a:/')).stderr).toContain('directory of the storage')
  expect((await run('storage', 'ls', 'storage_z:/')).exit).toBe(2)

  expect((await run('storage', 'rm', 'storage_a:/in')).stderr).toContain('--recursive')
  const asked = await run('storage', 'rm', 'storage_a:/in/', '--recursive')
  expect(asked).toMatchObject({ exit: 3, stderr: expect.stringContaining('2 files (16 B)') })
  expect((await json('storage', 'rm', 'storage_a:/in', '--recursive', '--dry-run')).data.deleted).toBe(false)
  expect(sandbox.storage('storage_a').list()).toHaveLength(4)
  expect((await json('storage', 'rm', 'storage_a:/in', '--recursive', '--yes')).data).toMatchObject({ files: 2 })
  expect(sandbox.events.list({ type: 'file.deleted' })).toHaveLength(2)
  expect((await run('storage', 'rm', 'storage_a:/in', '--yes')).exit).toBe(5)
  expect((await run('storage', 'rm', 'storage_a:/', '--recursive', '--yes')).exit).toBe(2)
})

test('transfers files and folders, tells a failure by exit 7 and names the file', async () => {
  const { sandbox, run, json } = await openWithCommand()
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
  expect((await json('transfer', 'cancel', id, '--dry-run')).data).toMatchObject({ done: false })
  await sandbox.transfers.cancel(id).catch(() => null)
  expect((await run('transfer', 'cancel', id)).exit).toBe(1)
  const begun = await json('transfer', 'start', 'storage_a:/in/a.txt', 'storage_b:/', '--detach')
  expect(begun.data).toMatchObject({ status: 'queued' })
})

test('registers webhooks, and sends again what did not arrive', async () => {
  const { sandbox, run, json } = await openWithCommand()
  const receiver = await openReceiver()
  const webhook = (await json('webhook', 'add', receiver.url, '--events', 'file.*', '--storage', 'storage_a')).data
  expect(webhook).toMatchObject({ events: ['file.*'], storages: ['storage_a'], secrets: 1, secret: expect.any(String) })
  expect((await run('webhook', 'list')).stdout).not.toContain(webhook.secret)
  await sandbox.storage('storage_a').put('/a.txt', 'a')
  const [first] = await sandbox.deliveries.until({ state: 'delivered' })
  const list = await run('deliveries', 'list', '--state', 'delivered', '--webhook', receiver.url)
  expect(list.stdout).toMatch(/file\.created +delivered +event +1 +200/)
  expect((await json('deliveries', 'resend', first?.eventId ?? '')).data).toMatchObject([{ cause: 'resend' }])
  await sandbox.deliveries.until({ state: 'delivered', count: 2 })

  await sandbox.webhooks.enable(webhook.id, false)
  await sandbox.storage('storage_a').put('/missed.txt', 'missed')
  await sandbox.webhooks.enable(webhook.id, true)
  expect((await json('deliveries', 'backfill', webhook.id, '--since', '1h')).data).toMatchObject({ queued: 1 })
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

test('lets things go wrong, and be well again', async () => {
  const { sandbox, run, json } = await openWithCommand()
  const args = ['fault', 'add', 'files.list', '--status', '503', '--times', '2', '--latency', '10ms', '--skip', '1']
  expect((await json(...args, '--dry-run')).data).toMatchObject({ done: false })
  expect(sandbox.faults.list()).toEqual([])
  const fault = (await json(...args)).data
  expect(sandbox.faults.list()).toMatchObject([{ on: 'files.list', status: 503, times: 2, latencyMs: 10, skip: 1 }])
  await json('fault', 'add', 'delivery', '--delay', '1m', '--type', 'file.*', '--probability', '0.5')
  expect(sandbox.faults.list()[1]).toMatchObject({ on: 'delivery', delayMs: 60_000, probability: 0.5 })
  expect((await run('fault', 'list')).stdout).toMatch(/flt_1 +files\.list +0\/2/)
  expect(await run('fault', 'add', 'delivery', '--status', '503')).toMatchObject({
    ...{ exit: 2, stderr: expect.stringContaining('it does nothing on delivery') },
  })
  expect((await run('fault', 'add', 'files.list')).exit).toBe(2)
  expect((await run('fault', 'add', 'nowhere', '--drop')).exit).toBe(2)
  expect((await json('fault', 'clear', fault.id)).data).toEqual({ cleared: [fault.id] })
  expect((await run('fault', 'clear', fault.id)).exit).toBe(5)
  await json('fault', 'clear')
  expect(sandbox.faults.list()).toEqual([])
})

test('moves the clock, and brings it back', async () => {
  const { sandbox, run, json } = await openWithCommand()
  const before = sandbox.clock.now()
  expect((await json('clock', 'advance', '2h')).data).toMatchObject({ mode: 'manual' })
  expect(sandbox.clock.now()).toBe(before + 7_200_000)
  expect((await run('clock', 'show')).stdout).toMatch(/stands still, .* ahead of this machine/)
  expect((await run('clock', 'advance', 'soon')).exit).toBe(2)
  expect((await json('clock', 'real')).data).toMatchObject({ mode: 'real' })
  expect(Math.abs(sandbox.clock.now() - Date.now())).toBeLessThan(60_000)
})

test('shows and changes settings', async () => {
  const { sandbox, run, json } = await openWithCommand()
  expect((await json('settings', 'plan=pro', 'deleteFolders=true')).data).toMatchObject({ deleteFolders: true })
  expect(sandbox.settings.get()).toMatchObject({ plan: 'pro', deleteFolders: true })
  expect((await run('settings')).stdout).toMatch(/plan +pro/)
  expect((await run('settings', 'plan=gold')).exit).toBe(2)
  expect((await run('settings', 'plan')).exit).toBe(2)
})

test('says what clients did wrong, by exit 7', async () => {
  const { sandbox, run, json } = await openWithCommand()
  const { key } = await sandbox.keys.create({ name: 'client' })
  expect((await run('audit')).exit).toBe(0)
  await fetch(`${sandbox.url}/files?service=storage_a&limit=500`, { headers: { authorization: `Bearer ${key}` } })
  expect(await run('audit')).toMatchObject({ exit: 7, stdout: expect.stringContaining('limit_over_100') })
  expect((await json('audit', '--requests')).data).toMatchObject([{ operation: 'files.list', status: 400 }])
})

test('comes back to a snapshot, and to the very start, only when that is meant', async () => {
  const { sandbox, run, json } = await openWithCommand()
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

test('probes an endpoint of the running app by its name, and resets without cutting the app off', async () => {
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

test('a probe that fails leaves with 7', async () => {
  const { sandbox, run } = await openWithCommand()
  const careless = await openReceiver()
  await sandbox.webhooks.add({ url: careless.url })
  expect(await run('probe', careless.url)).toMatchObject({
    exit: 7,
    stdout: expect.stringMatching(/forged +refused +200 +no/),
  })
})
