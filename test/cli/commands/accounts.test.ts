import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { openDataDir } from '../../support/open-data-dir.ts'
import { tempFolder } from '../../support/temp-folder.ts'
import { startTestApp } from '../../support/test-app.ts'
import { runCli } from '../support/run-cli.ts'
import { runHere } from '../support/run-here.ts'

const LIVE = 'sk_live_canary_of_the_accounts'
const STORAGES = ['--storage-a', 'a-drive', '--storage-b', 'b-drive', '--storage-c', 'c-drive']

/** `upshot accounts` on a data directory of its own. */
function accountsIn(dataDir: string) {
  return (args: string[], options: Parameters<typeof runHere>[2] = {}) =>
    runHere(dataDir, ['accounts', ...args, '--json'], options)
}

async function readAccount(dataDir: string, name: string) {
  const store = openDataDir({ dataDir, secretKey: null })
  try {
    return await store.findAccount(name)
  } finally {
    await store.close()
  }
}

test('an account is added, shown, changed and removed, and its key is never shown', async () => {
  const dataDir = tempFolder()
  const accounts = accountsIn(dataDir)
  const base = ['--base-url', 'https://api.example.com/v1/', '--plan', '450', ...STORAGES]
  const added = await runCli(dataDir, ['accounts', 'add', 'shop', ...base, '--key-stdin', '--json'], {
    input: `${LIVE}\n`,
  })
  expect(added.json.data).toEqual({
    name: 'shop',
    baseUrl: 'https://api.example.com/v1',
    plan: 450,
    storages: { storage_a: 'a-drive', storage_b: 'b-drive', storage_c: 'c-drive' },
    hasFallbackKey: false,
    keeper: null,
    createdAt: expect.any(String),
    endpoints: [],
  })
  expect(await readAccount(dataDir, 'shop')).toMatchObject({ apiKey: LIVE, fallbackKey: null, plan: 450 })

  const next = 'sk_live_canary_that_comes_next'
  const edit = ['edit', 'shop', '--key-env', 'NEXT', '--keep-old-key', '--storage-b', 'desk']
  expect((await accounts(edit, { env: { NEXT: next } })).json.data).toMatchObject({ hasFallbackKey: true, plan: 450 })
  expect(await readAccount(dataDir, 'shop')).toMatchObject({
    apiKey: next,
    fallbackKey: LIVE,
    storages: { storage_b: 'desk' },
  })
  const kept = await accounts(['edit', 'shop', '--keep-old-key', '--plan', '450'])
  expect(kept.json.data).toMatchObject({ hasFallbackKey: true })
  expect(await readAccount(dataDir, 'shop')).toMatchObject({ apiKey: next, fallbackKey: LIVE })
  expect((await accounts(['edit', 'shop', '--plan', 'pro', '--dry-run'])).json.data.plan).toBe('pro')
  expect((await accounts(['edit', 'shop', '--plan', '451'])).json.data).toMatchObject({
    hasFallbackKey: true,
    plan: 451,
  })
  expect((await accounts(['edit', 'shop', '--no-fallback'])).json.data).toMatchObject({ hasFallbackKey: false })
  expect(await readAccount(dataDir, 'shop')).toMatchObject({ apiKey: next, fallbackKey: null })

  const listed = await accounts(['list'])
  expect(listed.json.data.map(({ name }: { name: string }) => name)).toEqual(['default', 'shop'])
  const shown = await runHere(dataDir, ['accounts', 'show', 'shop'])
  expect(shown.stdout).toContain('451 requests per minute')
  expect((await accounts(['remove', 'shop'])).exit).toBe(3)
  expect((await accounts(['remove', 'shop', '--yes'])).json.data).toEqual({ name: 'shop', removed: true })
  expect((await accounts(['show', 'shop'])).exit).toBe(5)
})

test('an account whose key and base URL do not match is refused', async () => {
  const accounts = accountsIn(tempFolder())
  const add = (name: string, url: string, key: string) =>
    accounts(['add', name, '--base-url', url, '--key-env', 'KEY', ...STORAGES], { env: { KEY: key } })
  const [elsewhere, here, open, reserved] = await Promise.all([
    add('shop', 'https://api.example.com/v1', 'sk_sandbox_canary'),
    add('shop', 'http://127.0.0.1:4747/v1', LIVE),
    add('shop', 'http://api.example.com/v1', LIVE),
    add('default', 'https://api.example.com/v1', LIVE),
  ])
  expect([elsewhere, here, open, reserved].map((result) => result?.exit)).toEqual([2, 2, 2, 2])
  expect(elsewhere?.json.error.message).toContain('the base URL is not on this machine')
  expect(here?.json.error.message).toContain('the API key is not one of the sandbox')
  expect(open?.json.error.message).toContain('https://')
  expect(reserved?.json.error.message).toContain('SERVICE_BASE_URL')
  expect([elsewhere, here, open].some((result) => /canary/.test(`${result?.stdout}${result?.stderr}`))).toBe(false)
  const nothing = await accounts(['add', 'shop', '--base-url', 'https://api.example.com/v1', ...STORAGES])
  expect(nothing.json.error).toMatchObject({ code: 'invalid_request', fix: expect.stringContaining('--key-file') })
})

test('an account that moves to another host needs a key for it, and the old one goes nowhere', async () => {
  const dataDir = tempFolder()
  const accounts = accountsIn(dataDir)
  const env = { KEY: LIVE, OLD: `${LIVE}_old`, NEXT: `${LIVE}_next` }
  const keys = ['--key-env', 'KEY', '--fallback-env', 'OLD']
  await accounts(['add', 'shop', '--base-url', 'https://api.example.com/v1', ...keys, ...STORAGES], { env })
  const move = (...more: string[]) =>
    accounts(['edit', 'shop', '--base-url', 'https://api.example.org/v1', ...more], { env })
  expect((await move()).json.error).toMatchObject({ code: 'invalid_request', message: expect.stringContaining('key') })
  expect(await readAccount(dataDir, 'shop')).toMatchObject({ baseUrl: 'https://api.example.com/v1' })
  const moved = await move('--key-env', 'NEXT', '--keep-old-key')
  expect(moved.json.data).toMatchObject({ baseUrl: 'https://api.example.org/v1', hasFallbackKey: false })
  expect(await readAccount(dataDir, 'shop')).toMatchObject({ apiKey: env.NEXT, fallbackKey: null })
  const within = await accounts(['edit', 'shop', '--base-url', 'https://api.example.org/v2'])
  expect(within.json.data).toMatchObject({ baseUrl: 'https://api.example.org/v2' })
})

test('accounts add takes defaults from the running sandbox, and an account in use cannot be removed', async () => {
  const { dataDir, sandbox } = await startTestApp()
  const { key } = await sandbox.keys.create({ name: 'shop', scope: 'read-only' })
  const accounts = accountsIn(dataDir)
  const file = join(dataDir, 'key.txt')
  writeFileSync(file, `${key}\n`)
  expect((await accounts(['add', 'shop', '--key-file', file])).json.data).toMatchObject({ baseUrl: sandbox.url })
  expect((await accounts(['add', 'shop', '--key-file', file])).json.error.code).toBe('conflict')
  await runHere(dataDir, ['endpoints', 'add', 'orders', '--account', 'shop'])
  const refused = await accounts(['remove', 'shop', '--yes'])
  expect(refused).toMatchObject({ exit: 1, json: { error: { code: 'conflict' } } })
  expect(refused.json.error.message).toContain('orders')
  expect((await accounts(['show', 'default'])).json.data).toMatchObject({
    keeper: 'sandbox',
    endpoints: ['sandbox'],
    baseUrl: sandbox.url,
  })
  await runHere(dataDir, ['endpoints', 'edit', 'orders', '--account', 'default'])
  expect((await accounts(['remove', 'shop', '--yes'])).exit).toBe(0)
})
