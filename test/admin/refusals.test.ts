import { expect, test } from 'vitest'
import { cron } from '../../src/author/cron.ts'
import { planEndpoint } from '../../src/core/incoming/endpoint.ts'
import { queueRun } from '../support/fixtures.ts'
import { startConsole, testSurroundings } from './support/start-console.ts'

/** A console with the endpoints `shop`, which learns, and `sandbox`, which the app keeps. */
async function openRefusing() {
  const surroundings = { ...testSurroundings(), isHeaderKept: ({ name }: { name: string }) => name === 'sandbox' }
  const console = await startConsole({ surroundings })
  const { store, clock, ask } = console
  await store.addEndpoint({ ...planEndpoint({ name: 'shop' }, clock.now()), status: 'learning' })
  await store.addEndpoint(planEndpoint({ name: 'sandbox' }, clock.now()))
  const send = async (method: string, path: string, body?: object) => {
    const response = await ask(path, { method, ...(body ? { body: JSON.stringify(body) } : {}) })
    const { detail = '', fix = '' } = ((await response.json()) ?? {}) as { detail?: string; fix?: string }
    return { status: response.status, detail, fix }
  }
  return { ...console, send }
}

test('a dry run of a change of an endpoint or an account answers what would be saved, and saves nothing', async () => {
  const { store, send, ask } = await openRefusing()
  const before = await store.listEndpoints()
  for (const [method, path, body] of [
    ['POST', '/endpoints', { name: 'other' }],
    ['PATCH', '/endpoints/shop', { events: ['file.*'] }],
    ['POST', '/endpoints/shop/rotate', {}],
    ['POST', '/endpoints/shop/retire', {}],
    ['POST', '/endpoints/shop/pin', { scheme: {} }],
    ['PUT', '/accounts/second', { apiKey: 'sk_sandbox_1', baseUrl: 'http://127.0.0.1:1/v1' }],
  ] as const)
    expect({ path, ...(await send(method, path, { ...body, isDryRun: true })) }).toMatchObject({ path, status: 200 })
  const request = { method: 'POST', body: '{"isDryRun":true}' }
  expect(await (await ask('/endpoints/shop/rotate', request)).json()).toMatchObject({
    secret: null,
    endpoint: { secrets: { length: 2 } },
  })
  expect([await store.listEndpoints(), await store.listAccounts()]).toEqual([before, []])
  expect(await store.listActions({ limit: 9 })).toEqual([])
})

test.each(['?key=', '#', '@evil.example'])('an account has no base URL that ends with %s', async (end) => {
  const { store, send } = await openRefusing()
  const storages = { storage_a: 'a', storage_b: 'b', storage_c: 'c' }
  const account = { apiKey: 'sk_live_of_a_test', storages, baseUrl: `https://api.example.com${end}` }
  expect(await send('PUT', '/accounts/second', account)).toMatchObject({ status: 400 })
  expect(await store.listAccounts()).toEqual([])
})

test.each([
  ['cut short', '{"name":', 'application/json', 400, 'invalid_request'],
  ['too large', JSON.stringify({ name: 'a'.repeat(1_048_576) }), 'application/json', 413, 'body_too_large'],
  ['no UTF-8', '{}', 'application/json; charset=koi8-r', 400, 'invalid_request'],
])('a body that is %s is the fault of the caller, and none of Upshot', async (_, body, type, status, code) => {
  const { ask, store } = await openRefusing()
  const response = await ask('/endpoints', { method: 'POST', body, headers: { 'content-type': type } })
  expect(await response.json()).toMatchObject({ status, code })
  expect(await store.listEndpoints()).toHaveLength(2)
})

test('a name that is taken is refused by a dry run, too', async () => {
  const { store, clock, send } = await openRefusing()
  const report = { id: 'report', file: 'report.workflow.ts', eventTypes: [], schedule: null }
  const nightly = { id: 'nightly', file: 'nightly.workflow.ts', eventTypes: [], schedule: cron('0 3 * * *') }
  await store.saveWorkflows({ workflows: [report, nightly], broken: [] }, clock.now())
  const monthly = { name: 'monthly', workflow: 'report', cron: '0 3 1 * *' }
  for (const [path, body] of [
    ['/endpoints', { name: 'other' }],
    ['/schedules', monthly],
  ] as const) {
    const statuses: number[] = []
    for (const isDryRun of [true, false, true, false]) {
      statuses.push((await send('POST', path, { ...body, isDryRun })).status)
    }
    expect(statuses).toEqual([200, 200, 409, 409])
  }
  const line = { ...monthly, name: 'nightly' }
  for (const isDryRun of [true, false])
    expect(await send('POST', '/schedules', { ...line, isDryRun })).toMatchObject({ status: 409 })
})

test('an account is added once, changed where it is there, and never under the name default', async () => {
  const { send } = await openRefusing()
  const account = { apiKey: 'sk_sandbox_1', baseUrl: 'http://127.0.0.1:1/v1' }
  expect(await send('PUT', '/accounts/second', { isNew: false })).toMatchObject({ status: 404 })
  expect(await send('PUT', '/accounts/second', { ...account, isNew: true })).toMatchObject({ status: 200 })
  expect(await send('PUT', '/accounts/second', { ...account, isNew: true })).toMatchObject({ status: 409 })
  expect(await send('PUT', '/accounts/second', { plan: 'pro', isNew: false })).toMatchObject({ status: 200 })
  for (const change of [account, { plan: 'pro', isNew: false }]) {
    const refused = await send('PUT', '/accounts/default', change)
    expect(refused).toMatchObject({ status: 400, detail: expect.stringContaining('set by the environment') })
  }
})

test('a restart that does not fit is refused as a restart, and a pause of no schedule is not found', async () => {
  const { store, clock, send } = await openRefusing()
  const run = await queueRun(store, 'evt_1', 'count', clock.now())
  const resumed = await send('POST', `/runs/${run}/resume`, {})
  expect(resumed).toMatchObject({ status: 409, detail: expect.stringContaining(`Cannot resume run ${run}`) })
  const restarted = await send('POST', `/runs/${run}/resume`, { fromScratch: true })
  expect(restarted).toMatchObject({ status: 409, detail: expect.stringContaining(`Cannot restart run ${run}`) })
  const nightly = { id: 'nightly', file: 'nightly.workflow.ts', eventTypes: [], schedule: cron('0 3 * * *') }
  const count = { id: 'count', file: 'count.workflow.ts', eventTypes: ['*'], schedule: null }
  await store.saveWorkflows({ workflows: [nightly, count], broken: [] }, clock.now())
  for (const act of ['pause', 'resume']) {
    expect(await send('POST', `/schedules/none/${act}`, {})).toMatchObject({ status: 404 })
    const onEvents = await send('POST', `/schedules/count/${act}`, {})
    expect(onEvents).toMatchObject({ status: 404, fix: 'Choose one of: nightly.' })
  }
})

test('what is no kind of failure is neither resolved nor snoozed', async () => {
  const { store, send } = await openRefusing()
  for (const id of ['run_1m8kjtnz100b700exq6gdr6', 'x', `grp_${'x'.repeat(500)}`])
    for (const [verb, body] of [
      ['resolve', {}],
      ['snooze', { for: '1h' }],
    ] as const)
      expect(await send('POST', `/failures/${id}/${verb}`, body)).toMatchObject({ status: 404 })
  expect(await store.listActions({ limit: 9 })).toEqual([])
})
