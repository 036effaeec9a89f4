import { expect, test } from 'vitest'
import { z } from 'zod'
import { defineEvent } from '../../src/author/define-event.ts'
import { defineWorkflow } from '../../src/author/define-workflow.ts'
import { storageName } from '../../src/author/storage-name.ts'
import { planEndpoint } from '../../src/core/incoming/endpoint.ts'
import type { Account } from '../../src/core/service/account.ts'
import { startServedApp, startService } from './support/served-app.ts'

const entry = z.looseObject({ id: z.string(), path: z.string() })
const file = z.looseObject({ service: storageName, file: entry })
const fileCreated = defineEvent('file.created', { data: file })

const look = defineWorkflow({
  id: 'look',
  on: fileCreated,
  run: async ({ event, files }) => {
    const { service, file } = event.data
    return (await files.find({ service, id: file.id }))?.path ?? null
  },
})

const SECRET = 'a-secret-of-the-second-account'

/** Starts an app, and a second account whose events come to an endpoint of its own. */
async function startSecondAccount() {
  const first = await startService()
  const second = await startService()
  const account: Account = {
    name: 'second',
    baseUrl: second.sandbox.url,
    apiKey: second.service.apiKey,
    fallbackKey: null,
    plan: 'free',
    storages: { storage_a: 'doc-drive', storage_b: 'storage_b', storage_c: 'storage_c' },
    createdAt: 0,
  }
  const served = await startServedApp(first, { workflows: [look] })
  const endpoint = planEndpoint({ name: 'second', secret: SECRET, account: 'second' }, 0)
  await served.app.store.addEndpoint(endpoint)
  const url = `${served.urls.receiver}/hooks/${endpoint.path}`
  await second.sandbox.webhooks.add({ url, events: ['*'], secret: SECRET })
  return { first, second, account, ...served }
}

test('a run calls the account that its event came from', async () => {
  const { first, second, account, hear, app } = await startSecondAccount()
  await app.store.saveAccount(account)
  await second.sandbox.storage('storage_b').put('/theirs.txt', 'x')
  const { run } = await hear('run.completed')
  expect(await app.store.findRun(run)).toMatchObject({ output: '"/theirs.txt"' })
  expect(first.sandbox.audit.requests()).toEqual([])
  expect(second.sandbox.audit.requests()).toHaveLength(1)
})

test('a run whose account is unknown says so, and goes on once the account is added', async () => {
  const { second, account, hear, app, clock, advance } = await startSecondAccount()
  await second.sandbox.storage('storage_b').put('/theirs.txt', 'x')
  const { run, reason, dueAt } = await hear('run.parked')
  expect(reason).toContain(
    'There is no account "second". Add it with "upshot accounts add second", and the run goes on.',
  )
  expect(dueAt).toBe(clock.now() + 60_000)
  expect(second.sandbox.audit.requests()).toEqual([])
  await app.store.saveAccount(account)
  await advance(60_000)
  await hear('run.completed', (notice) => notice.run === run)
  expect(await app.store.listStepFailures(run)).toHaveLength(1)
})

test.each([
  ['a real fallback key for this machine', { fallbackKey: 'canary_real_key' }, 'the API key is not one of the sandbox'],
  ['a key without https', { apiKey: 'canary_real_key', baseUrl: 'http://api.example.com/v1' }, 'must begin with https'],
])('%s is never sent, and the run says why', async (_name, part, why) => {
  const { second, account, hear, app } = await startSecondAccount()
  await app.store.saveAccount({ ...account, ...part })
  await second.sandbox.storage('storage_b').put('/theirs.txt', 'x')
  const { reason } = await hear('run.parked')
  expect(reason).toContain(why)
  expect(reason).not.toContain('canary')
  expect(second.sandbox.audit.requests()).toEqual([])
})

test('a changed account is used from the next call on', async () => {
  const { second, account, hear, app } = await startSecondAccount()
  await app.store.saveAccount(account)
  await second.sandbox.storage('storage_b').put('/one.txt', 'x')
  const { run } = await hear('run.completed')
  const next = await second.makeKey('next')
  await app.store.saveAccount({ ...account, apiKey: next.key })
  await second.sandbox.keys.revoke(second.keyId)
  await second.sandbox.storage('storage_b').put('/two.txt', 'x')
  await hear('run.completed', (notice) => notice.run !== run)
  expect(second.sandbox.audit.requests().map(({ status }) => status)).toEqual([200, 200])
})

test('a key that is revoked during runs is replaced by the fallback key and never tried again', async () => {
  const served = await startService()
  const next = await served.makeKey('next')
  const service = { ...served.service, fallbackKey: next.key }
  const { hear, heard } = await startServedApp({ ...served, service }, { workflows: [look] })
  const storage = served.sandbox.storage('storage_a')
  await storage.put('/before.txt', 'x')
  await hear('run.completed')
  await served.sandbox.keys.revoke(served.keyId)
  for (let number = 0; number < 10; number++) await storage.put(`/${number}.txt`, 'x')
  while (heard.filter(({ kind }) => kind === 'run.completed').length < 11) await new Promise(setImmediate)
  expect(heard.filter(({ kind }) => kind === 'step.failed')).toEqual([])
  const refused = served.sandbox.audit.requests().filter(({ status }) => status === 401)
  expect(refused.length).toBeGreaterThanOrEqual(1)
  await storage.put('/after.txt', 'x')
  while (heard.filter(({ kind }) => kind === 'run.completed').length < 12) await new Promise(setImmediate)
  expect(served.sandbox.audit.requests().filter(({ status }) => status === 401)).toHaveLength(refused.length)
})
