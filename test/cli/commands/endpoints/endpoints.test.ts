import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { defineWorkflow } from '../../../../src/author/define-workflow.ts'
import { eventBody } from '../../../support/fixtures.ts'
import { opensslHmac } from '../../../support/sign.ts'
import { tempFolder } from '../../../support/temp-folder.ts'
import { startTestApp } from '../../../support/test-app.ts'
import { WEBHOOK_SECRET } from '../../../support/test-config.ts'
import { runHere } from '../../support/run-here.ts'
import { startShop } from '../../support/start-shop.ts'

const everything = defineWorkflow({ id: 'act-on-everything', on: '*', run: () => 'acted' })

test('endpoints test sends a signed, a forged and a repeated delivery, and starts no run', async () => {
  const { app, dataDir, endpoints } = await startShop({ workflows: [everything] })
  const { exit, json } = await endpoints('test', 'shop')
  expect(exit).toBe(0)
  expect(json.data).toMatchObject({ isPassed: true, isStored: true })
  expect(json.data.trials).toMatchObject([
    { sent: 'signed', expected: 'accepted', got: 'accepted', status: 200, isRight: true },
    { sent: 'forged', expected: 'refused', got: 'refused', status: 401, isRight: true },
    { sent: 'repeated', expected: 'duplicate', got: 'duplicate', status: 200, isRight: true },
  ])
  expect(await app.store.findEvents(json.data.event)).toMatchObject([{ type: 'upshot.test' }])
  expect(await app.store.listRuns({ limit: 10, eventId: json.data.event })).toEqual([])
  const told = await runHere(dataDir, ['endpoints', 'test', 'shop'])
  expect(told.stdout).toMatch(/forged +refused +refused +401/)
})

test('an endpoint set by the environment cannot be changed, and the error names the variable', async () => {
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

test('an endpoint is removed only after a confirmation, and its deliveries keep its name', async () => {
  const { endpoints, dataDir, app, post, secret } = await startShop()
  const body = eventBody('evt_kept')
  expect(await post(body, opensslHmac(secret, body))).toBe(200)
  const refused = await endpoints('remove', 'shop')
  expect(refused).toMatchObject({ exit: 3, json: { ok: false, error: { code: 'needs_confirmation' } } })
  expect((await endpoints('remove', 'shop', '--dry-run')).json.data).toMatchObject({ dryRun: true })
  expect(await post(body, opensslHmac(secret, body))).toBe(200)

  expect((await endpoints('remove', 'shop', '--yes')).json.data).toMatchObject({ removed: true })
  expect(await post(body, opensslHmac(secret, body))).toBe(401)
  expect((await app.store.listEndpoints()).map(({ name }) => name)).toEqual(['sandbox'])
  const list = (...args: string[]) => runHere(dataDir, ['deliveries', 'list', '--json', ...args])
  const kept = (await list('--endpoint', 'shop')).json.data
  expect(kept).toMatchObject([
    { verdict: 'duplicate', endpoint: 'shop', isEndpointRemoved: true },
    { verdict: 'accepted', endpoint: 'shop', isEndpointRemoved: true, eventId: 'evt_kept' },
  ])
  expect((await runHere(dataDir, ['events', 'show', 'evt_kept', '--json'])).exit).toBe(0)
  expect((await endpoints('show', 'shop')).exit).toBe(5)
  expect((await endpoints('add', 'shop')).exit).toBe(0)
})

test('endpoint commands print the public address, or the local one with advice', async () => {
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

test('endpoints add prints a secret once, and the running receiver accepts it at once', async () => {
  const { dataDir, urls } = await startTestApp()
  const args = ['endpoints', 'add', 'shop', '--events', 'file.*,order.placed', '--header', 'X-Shop', '--json']
  const { data } = (await runHere(dataDir, args)).json
  const { endpoint } = data
  expect(endpoint).toMatchObject({ name: 'shop', scheme: { header: 'X-Shop' }, events: ['file.*', 'order.placed'] })
  expect(endpoint.url.startsWith(`${urls.receiver}/hooks/shop-`)).toBe(true)

  const body = eventBody('evt_cli', 'order.placed')
  const headers = { 'content-type': 'application/json', 'x-shop': opensslHmac(data.secret, body) }
  expect((await fetch(endpoint.url, { method: 'POST', headers, body })).status).toBe(200)

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
