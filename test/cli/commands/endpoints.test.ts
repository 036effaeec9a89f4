import { once } from 'node:events'
import { writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { expect, onTestFinished, test, vi } from 'vitest'
import { defineWorkflow } from '../../../src/author/define-workflow.ts'
import { eventBody } from '../../support/fixtures.ts'
import { opensslHmac } from '../../support/sign.ts'
import { tempFolder } from '../../support/temp-folder.ts'
import { startTestApp } from '../../support/test-app.ts'
import { WEBHOOK_SECRET } from '../../support/test-config.ts'
import { runCli } from '../support/run-cli.ts'
import { runHere } from '../support/run-here.ts'

// Many commands a test.
vi.setConfig({ testTimeout: 60_000 })

const everything = defineWorkflow({ id: 'act-on-everything', on: '*', run: () => 'acted' })

/** A data directory with an app on it, and `upshot endpoints` on both. */
async function startShop(parts: Parameters<typeof startTestApp>[0] = {}) {
  const started = await startTestApp(parts)
  const endpoints = (...args: string[]) => runHere(started.dataDir, ['endpoints', ...args, '--json'])
  const { url, secret } = (await endpoints('add', 'shop')).json.data
  const post = async (body: string, signature: string, headers: Record<string, string> = {}) => {
    const all = { 'content-type': 'application/json', 'x-service-signature': signature, ...headers }
    return (await fetch(url, { method: 'POST', headers: all, body })).status
  }
  return { ...started, endpoints, url, secret: String(secret), post }
}

test('tries an endpoint: takes what is signed, refuses a forgery, knows what it had, and starts nothing', async () => {
  const { app, dataDir, endpoints } = await startShop({ workflows: [everything] })
  const { exit, json } = await endpoints('test', 'shop')
  expect(exit).toBe(0)
  expect(json.data).toMatchObject({ endpoint: 'shop', passed: true, stored: true })
  expect(json.data.deliveries).toMatchObject([
    { sent: 'signed', expected: 'accepted', got: 'accepted', status: 200, ok: true },
    { sent: 'forged', expected: 'refused', got: 'refused', status: 401, ok: true },
    { sent: 'repeated', expected: 'duplicate', got: 'duplicate', status: 200, ok: true },
  ])
  expect(await app.store.findEvents(json.data.event)).toMatchObject([{ type: 'upshot.test' }])
  expect(await app.store.listRuns({ limit: 10, eventId: json.data.event })).toEqual([])
  const told = await runHere(dataDir, ['endpoints', 'test', 'shop'])
  expect(told.stdout).toMatch(/forged +refused +refused +401/)
})

test('disables, tells a failing try by exit 7, and enables again', async () => {
  const { endpoints, dataDir, post, secret } = await startShop()
  expect((await endpoints('disable', 'shop')).json.data).toMatchObject({ name: 'shop', status: 'disabled' })
  const body = eventBody('evt_1')
  expect(await post(body, opensslHmac(secret, body))).toBe(401)
  const tried = await runHere(dataDir, ['endpoints', 'test', 'shop'])
  expect(tried).toMatchObject({ exit: 7, stderr: expect.stringContaining('upshot endpoints enable shop') })
  expect(tried.stdout).toMatch(/signed +accepted +refused +401/)
  expect((await endpoints('test', 'shop')).json).toMatchObject({ ok: true, data: { passed: false, stored: false } })

  expect((await endpoints('enable', 'shop')).json.data).toMatchObject({ status: 'active' })
  expect(await post(body, opensslHmac(secret, body))).toBe(200)
})

test('rotates with an overlap, says when the old secret ends, and retires it from the next request on', async () => {
  const { endpoints, dataDir, post, secret } = await startShop()
  const [one, two, three] = [eventBody('evt_1'), eventBody('evt_2'), eventBody('evt_3')]
  expect(await post(one, opensslHmac(secret, one))).toBe(200)
  const before = Date.now()
  const rotated = (await endpoints('rotate', 'shop', '--overlap', '1h')).json.data
  expect(rotated).toMatchObject({ position: 1, ends: [{ position: 0 }] })
  expect(Date.parse(rotated.ends[0].until) - Date.parse(rotated.activeFrom)).toBe(3_600_000)
  expect(Date.parse(rotated.activeFrom)).toBeGreaterThanOrEqual(before)
  expect(await post(two, opensslHmac(secret, two))).toBe(200)
  expect(await post(three, opensslHmac(rotated.secret, three))).toBe(200)

  const shown = (await endpoints('show', 'shop')).json.data
  expect(shown).toMatchObject({
    status: 'active',
    header: 'X-Service-Signature',
    deliveries24h: { accepted: 3 },
    secrets: [
      { position: 0, isNewest: false, isActive: true, until: rotated.ends[0].until, lastUsedAt: expect.any(String) },
      { position: 1, isNewest: true, isActive: true, until: null, lastUsedAt: expect.any(String) },
    ],
  })
  const told = await runHere(dataDir, ['endpoints', 'show', 'shop'])
  expect(told.stderr).toMatch(/Old secret 0 was last used .* ago: the service may still sign with it/)

  const retired = await endpoints('rotate', 'shop', '--retire')
  expect(retired.json.data).toEqual({ name: 'shop', retired: [0], kept: [1] })
  const [four, five] = [eventBody('evt_4'), eventBody('evt_5')]
  expect(await post(four, opensslHmac(secret, four))).toBe(401)
  expect(await post(five, opensslHmac(rotated.secret, five))).toBe(200)
  expect((await endpoints('rotate', 'shop', '--retire')).json.data).toMatchObject({ retired: [] })
})

test('rotates to a given secret without overlap, and refuses a weak one', async () => {
  const { endpoints, dataDir, post, secret } = await startShop()
  const next = 'the-next-secret-of-the-shop-0123'
  const args = ['endpoints', 'rotate', 'shop', '--overlap', '0', '--secret-env', 'NEXT', '--json']
  const rotated = await runHere(dataDir, args, { env: { NEXT: next } })
  expect(rotated.json.data).toMatchObject({ ends: [], secret: null })
  const body = eventBody('evt_1')
  expect(await post(body, opensslHmac(secret, body))).toBe(401)
  expect(await post(body, opensslHmac(next, body))).toBe(200)
  const weak = await runHere(dataDir, args, { env: { NEXT: 'hunter2' } })
  expect(weak).toMatchObject({ exit: 2, json: { ok: false, error: { code: 'invalid_request' } } })
  expect((await endpoints('rotate', 'shop', '--overlap', '2h')).exit).toBe(2)
})

test('rotates the endpoint of the sandbox, which signs with the new secret at once', async () => {
  const { endpoints, sandbox, hear, app } = await startShop()
  const rotated = await endpoints('rotate', 'sandbox', '--overlap', '0')
  expect(rotated.exit).toBe(0)
  const { id } = await sandbox.events.emit('order.placed', { order: 1 })
  expect(await hear('delivery.received', ({ event }) => event === id)).toMatchObject({ verdict: 'accepted' })
  const [endpoint] = await app.store.listEndpoints()
  expect(sandbox.webhooks.list()[0]?.secrets).toEqual(endpoint?.secrets.map(({ value }) => value))
})

test('leaves what the environment and the app see to alone, and says where to change it', async () => {
  const service = {
    SERVICE_BASE_URL: 'https://api.example.com/v1',
    SERVICE_API_KEY: 'sk_live_of_the_tests',
    SERVICE_WEBHOOK_SECRET: WEBHOOK_SECRET,
    SERVICE_SIGNATURE_HEADER: 'X-Service-Signature',
    SERVICE_STORAGE_A: 'a',
    SERVICE_STORAGE_B: 'b',
    SERVICE_STORAGE_C: 'c',
  }
  const dataDir = tempFolder()
  await runHere(dataDir, ['endpoints', 'add', 'service'])
  const env = { env: service }
  const [rotated, edited, removed] = await Promise.all([
    runHere(dataDir, ['endpoints', 'rotate', 'service', '--json'], env),
    runHere(dataDir, ['endpoints', 'edit', 'service', '--header', 'X-Other', '--json'], env),
    runHere(dataDir, ['endpoints', 'remove', 'service', '--yes', '--json'], env),
  ])
  expect([rotated, edited, removed].map(({ json }) => json.error.code)).toEqual(Array(3).fill('conflict'))
  expect(rotated?.json.error.fix).toContain('SERVICE_WEBHOOK_SECRET')
  expect(edited?.json.error.fix).toContain('SERVICE_SIGNATURE_HEADER')
})

test('removes only what a person agreed to; what it received stays under its name', async () => {
  const { endpoints, dataDir, app, post, secret } = await startShop()
  const body = eventBody('evt_kept')
  expect(await post(body, opensslHmac(secret, body))).toBe(200)
  const refused = await endpoints('remove', 'shop')
  expect(refused).toMatchObject({ exit: 3, json: { ok: false, error: { code: 'needs_confirmation' } } })
  expect((await endpoints('remove', 'shop', '--dry-run')).json.data).toMatchObject({ removed: false })
  expect(await post(body, opensslHmac(secret, body))).toBe(200)

  expect((await endpoints('remove', 'shop', '--yes')).json.data).toMatchObject({ removed: true })
  expect(await post(body, opensslHmac(secret, body))).toBe(401)
  expect((await app.store.listEndpoints()).map(({ name }) => name)).toEqual(['sandbox'])
  const list = (...args: string[]) => runHere(dataDir, ['deliveries', 'list', '--json', ...args])
  const kept = (await list('--endpoint', 'shop')).json.data
  expect(kept).toMatchObject([
    { verdict: 'duplicate', endpoint: 'shop (removed)' },
    { verdict: 'accepted', endpoint: 'shop (removed)', eventId: 'evt_kept' },
  ])
  expect((await runHere(dataDir, ['events', 'show', 'evt_kept', '--json'])).exit).toBe(0)
  expect((await runHere(dataDir, ['deliveries', 'replay', kept[1].id, '--json'])).json.error.code).toBe('conflict')
  expect((await endpoints('show', 'shop')).exit).toBe(5)
  expect((await endpoints('add', 'shop')).exit).toBe(0)
})

test('edits events, account, scheme and header, each alone, and keeps the rest', async () => {
  const { endpoints, dataDir, post, secret } = await startShop()
  expect((await endpoints('edit', 'shop', '--events', 'file.*')).json.data).toMatchObject({
    events: ['file.*'],
    header: 'X-Service-Signature',
    account: 'default',
  })
  const edited = (await endpoints('edit', 'shop', '--scheme', 'sha256-prefix', '--header', 'X-Hub')).json.data
  expect(edited).toMatchObject({ events: ['file.*'], header: 'X-Hub', scheme: { grammar: 'prefix' } })
  const body = eventBody('evt_1')
  expect(await post(body, opensslHmac(secret, body))).toBe(401)
  expect(await post(body, '', { 'x-hub': `sha256=${opensslHmac(secret, body)}` })).toBe(200)

  const dry = await endpoints('edit', 'shop', '--events', '*', '--dry-run')
  expect(dry.json.data).toMatchObject({ events: ['*'] })
  expect((await endpoints('show', 'shop')).json.data.events).toEqual(['file.*'])
  const [nothing, unknown, unfit, unread] = await Promise.all([
    endpoints('edit', 'shop'),
    endpoints('edit', 'shop', '--account', 'nobody'),
    endpoints('edit', 'shop', '--scheme', '{"secret":"hex"}'),
    endpoints('edit', 'shop', '--scheme', '{"algorithm":"md5"}'),
  ])
  expect([nothing, unknown, unfit, unread].map((result) => result?.exit)).toEqual([2, 5, 2, 2])
  expect(unknown?.json.error.fix).toContain('upshot accounts add nobody')
  expect(unread?.json.error.message).toContain('algorithm')
  expect((await runHere(dataDir, ['endpoints', 'show', 'shop'])).stdout).toContain('sha256=<signature>')
})

test('pins a scheme in the form in which it is shown', async () => {
  const { endpoints, post, secret } = await startShop()
  const scheme = JSON.stringify({ algorithm: 'sha256', encoding: 'hex', header: 'X-Pinned' })
  expect((await endpoints('pin', 'shop', '--scheme', scheme)).json.data).toMatchObject({
    header: 'X-Pinned',
    status: 'active',
  })
  const body = eventBody('evt_1')
  expect(await post(body, '', { 'x-pinned': opensslHmac(secret, body) })).toBe(200)
  const shown = (await endpoints('show', 'shop')).json.data
  expect((await endpoints('pin', 'shop', '--scheme', JSON.stringify(shown.scheme))).json.data.scheme).toEqual(
    shown.scheme,
  )
  expect((await endpoints('pin', 'shop')).exit).toBe(2)
})

test('sends the bytes of a file, signed, to any URL and prints the answer', async () => {
  const { dataDir, url, secret } = await startShop()
  const file = join(dataDir, 'body.json')
  writeFileSync(file, `${eventBody('evt_sent')}\n\n`)
  const send = (args: string[], to = url, input = '') =>
    runCli(tempFolder(), ['endpoints', 'send', to, '--secret-env', 'KEY', ...args], { env: { KEY: secret }, input })
  const sent = await send(['--file', file, '--json'])
  expect(sent).toMatchObject({ exit: 0, json: { data: { status: 200, verdict: 'accepted' } } })
  expect(JSON.parse(sent.json.data.answer)).toMatchObject({ success: true, data: { event: 'evt_sent' } })
  const [piped, sample, wrong, gone] = await Promise.all([
    send(['--file', '-'], url, `${eventBody('evt_sent')}\n\n`),
    send(['--json']),
    send(['--scheme', 'base64']),
    send(['--json'], 'http://127.0.0.1:9/hooks/none'),
  ])
  expect(piped?.stdout).toMatch(/^HTTP 200 {2}duplicate\n/)
  expect(sample?.json.data).toMatchObject({ verdict: 'accepted' })
  expect(wrong).toMatchObject({ exit: 7, stdout: expect.stringMatching(/^HTTP 401\n.*refused/s) })
  expect(gone).toMatchObject({ exit: 6, json: { error: { code: 'not_running' } } })
})

test('sends to a foreign server what that server sees, follows no redirect, and steers no terminal with its answer', async () => {
  const seen: { headers: NodeJS.Dict<string | string[]>; body: string }[] = []
  const server = createServer(async (request, response) => {
    let body = ''
    for await (const chunk of request) body += chunk
    seen.push({ headers: request.headers, body })
    response.writeHead(302, { location: '/elsewhere' }).end('\u001B[2Jmoved\nthere')
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  onTestFinished(() => void server.close())
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/any/path?x=1`
  const args = [
    'endpoints',
    'send',
    url,
    '--secret-stdin',
    '--scheme',
    'sha256-prefix',
    '--header',
    'X-Hub-Signature-256',
  ]
  const file = join(tempFolder(), 'hello.txt')
  writeFileSync(file, 'Hello, World!')
  const { exit, stdout } = await runCli(tempFolder(), [...args, '--file', file], {
    input: "It's a Secret to Everybody",
  })
  expect([exit, stdout]).toEqual([7, 'HTTP 302\n [2Jmoved\nthere\n'])
  expect(seen).toHaveLength(1)
  expect(seen[0]).toMatchObject({
    body: 'Hello, World!',
    // GitHub's published example.
    headers: { 'x-hub-signature-256': 'sha256=757107ea0eb2509fc211221cce984b8a37570b6d7586c22c46f4379c8b043e17' },
  })
})

test('prints the public address everywhere, and the local one with advice without it', async () => {
  const dataDir = tempFolder()
  const local = { env: { UPSHOT_PORT: '4700' } }
  const added = await runHere(dataDir, ['endpoints', 'add', 'shop'], local)
  expect(added.stdout).toContain('http://127.0.0.1:4700/hooks/shop-')
  expect(added.stderr).toContain('UPSHOT_PUBLIC_URL')
  const open = { env: { UPSHOT_PUBLIC_URL: 'https://hooks.example.com/in/' } }
  const [more, list, show, unfit] = await Promise.all([
    runHere(dataDir, ['endpoints', 'add', 'more'], open),
    runHere(dataDir, ['endpoints', 'list', '--json'], open),
    runHere(dataDir, ['endpoints', 'show', 'shop', '--json'], open),
    runHere(dataDir, ['endpoints', 'list', '--json'], { env: { UPSHOT_PUBLIC_URL: 'http://hooks.example.com' } }),
  ])
  expect(more?.stdout).toContain('https://hooks.example.com/in/hooks/more-')
  expect(more?.stderr).not.toContain('UPSHOT_PUBLIC_URL')
  expect(list?.json.data[0].url).toMatch(/^https:\/\/hooks\.example\.com\/in\/hooks\/shop-\w{32}$/)
  expect(show?.json.data.url).toBe(list?.json.data[0].url)
  expect(unfit).toMatchObject({ exit: 2, json: { error: { code: 'invalid_config' } } })
  expect(unfit?.json.error.message).toContain('UPSHOT_PUBLIC_URL is not valid: it should be the https address')
})
