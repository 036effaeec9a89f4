import { expect, test } from 'vitest'
import { EMPTY_BOOK } from '../../src/core/alerts/alert-book.ts'
import { newId } from '../../src/core/ids.ts'
import { planEndpoint } from '../../src/core/incoming/endpoint.ts'
import { ManualClock } from '../../src/core/time.ts'
import { indexSubjects } from '../../src/schedule/follow-events.ts'
import { eventBody, incoming, NOW } from '../support/fixtures.ts'
import { failRun, RULE } from '../watch/alerts/support/open-alerts.ts'
import { startConsole, testSurroundings } from './support/start-console.ts'

const HOUR = 3_600_000

test('a kind of failure has its trend over the time that is asked for', async () => {
  const { store, get } = await startConsole({ clock: new ManualClock(NOW + 24 * HOUR) })
  for (const hours of [0.5, 0.7, 23.5]) await failRun(store, NOW + hours * HOUR)
  const [group] = (await get('/failures')).items
  expect(group).toMatchObject({ runs: 3, trend: [2, ...new Array(22).fill(0), 1] })
  const until = new Date(NOW + 48 * HOUR).toISOString()
  const [wide] = (await get(`/failures?since=24h&until=${until}`)).items
  expect(wide?.trend).toEqual([2, ...new Array(10).fill(0), 1, ...new Array(12).fill(0)])
})

test('runs are found by whether a person has resolved them, by a parameter and by words', async () => {
  const { store, get } = await startConsole({ clock: new ManualClock(NOW + HOUR) })
  const [first, second] = [await failRun(store, NOW + 1_000), await failRun(store, NOW + 2_000)]
  await store.resolveRun(first, { by: 'cli:ada', at: NOW + 3_000, reason: 'copied by hand' })
  const find = async (query: string) => (await get(`/runs?${query}`)).items.map(({ id }) => id)
  expect([await find('resolved=true'), await find('q=resolved:true')]).toEqual([[first], [first]])
  expect([await find('resolved=false&status=failed'), await find('q=resolved:false')]).toEqual([[second], [second]])
})

test('an operation that resolves needs a reason, which each run keeps with the person', async () => {
  const { store, ask } = await startConsole()
  const start = (reason?: string) => {
    const body = JSON.stringify({ kind: 'resolve', filter: { status: 'failed', resolved: 'false' }, reason })
    return ask('/operations', { method: 'POST', body })
  }
  const run = await failRun(store, NOW + 1_000)
  const refused = await start()
  expect([refused.status, await refused.json()]).toMatchObject([400, { code: 'invalid_request' }])
  expect(await store.listBulks({ limit: 1 })).toEqual([])
  expect((await start('copied by hand')).status).toBe(200)
  const resolution = { reason: 'copied by hand' }
  await expect.poll(() => store.findRun(run), { timeout: 30_000 }).toMatchObject({ resolution })
})

test('a trace that is larger than the page says where it is cut', async () => {
  const { store, clock, get } = await startConsole()
  const workflows = Array.from({ length: 120 }, (_, index) => `workflow-${index}`)
  // An event is looked for in the accounts of the endpoints.
  await store.addEndpoint(planEndpoint({ name: 'main' }, clock.now()))
  await store.saveDelivery(incoming('evt_1', { workflows }))
  const trace = await get('/events/evt_1/trace')
  const nodes = trace.nodes as { isCut: boolean }[]
  expect([nodes.length, nodes[0]?.isCut, nodes[1]?.isCut, trace.isComplete]).toEqual([101, true, false, false])
})

const FILE = { service: 'storage_a', file: { id: 'fil_1', path: '/in/a.pdf' } }

test('the history of a file has its events with their runs, also once they are indexed', async () => {
  const { store, get } = await startConsole()
  await store.saveDelivery(incoming('evt_1', { body: eventBody('evt_1', 'file.created', FILE) }))
  await store.saveDelivery(incoming('evt_2', { body: eventBody('evt_2', 'file.created', { file: { id: 'fil_2' } }) }))
  const path = `/subjects/${encodeURIComponent('storage_a:/in/a.pdf')}`
  const told = { items: [{ event: { id: 'evt_1' }, runs: [{ workflow: 'follow-up' }] }], next: null, effects: [] }
  expect(await get(path)).toMatchObject(told)
  await indexSubjects(store)
  expect(await get(path)).toMatchObject(told)
  expect((await get('/subjects/fil_2')).items).toMatchObject([{ event: { id: 'evt_2' } }])
})

test('an event names its files and ids, and their history is not for a viewer', async () => {
  const { store, ask, makeToken } = await startConsole()
  await store.saveDelivery(incoming('evt_1', { body: eventBody('evt_1', 'file.created', FILE) }))
  const headers = { authorization: `Bearer ${await makeToken('viewer')}` }
  expect((await ask('/subjects/fil_1', { headers })).status).toBe(403)
})

const TOPIC = { id: 'grp_1', title: 'verify fails', page: '/runs?group=grp_1', command: 'runs list', since: 1_000 }

test('the overview counts what is wrong now, and names what began last', async () => {
  const alerts = () => ({ rules: [RULE], kinds: {} })
  const { store, get, makeToken } = await startConsole({ surroundings: { ...testSurroundings(), alerts } })
  const viewer = await makeToken('viewer')
  expect(await get('/overview', viewer)).toMatchObject({ alerts: { open: 0, newest: null } })
  const unsaid = { sentCount: null, lastSentAt: null, endedAt: null, sendingUntil: null, seenAt: 4_000, count: 1 }
  const topics = [
    { ...TOPIC, ...unsaid },
    { ...TOPIC, ...unsaid, id: 'grp_2', title: 'copy fails', since: 2_000 },
    { ...TOPIC, ...unsaid, id: 'grp_3', title: 'that was', since: 3_000, endedAt: 3_500 },
  ]
  await store.saveAlertBook(RULE.name, { ...EMPTY_BOOK, topics }, 0)
  expect(await get('/overview', viewer)).toMatchObject({ alerts: { open: 2, newest: 'copy fails' } })
})

test('the overview counts a refused delivery, and no probe of our own', async () => {
  const { store, get, makeToken, clock } = await startConsole()
  const refusal = { endpointId: null, receivedAt: clock.now(), bodyBytes: 1, facts: {} }
  for (const verdict of ['probe', 'bad_signature'] as const)
    await store.saveRefusal({ ...refusal, verdict, id: newId('dlv', clock.now()) })
  expect(await get('/overview', await makeToken('viewer'))).toMatchObject({ received: { refused: 1, accepted: 0 } })
})

const HOUR_MS = 3_600_000

test('the input of a schedule whose moment is over can be edited, and its moment is no reason against it', async () => {
  const { ask, clock, store } = await startConsole()
  const report = { id: 'report', file: 'report.workflow.ts', eventTypes: [], schedule: null, input: {} }
  await store.saveWorkflows({ workflows: [report], broken: [] }, clock.now())
  const send = async (method: string, path: string, body: object) => {
    const answer = await ask(path, { method, body: JSON.stringify(body) })
    return { status: answer.status, body: (await answer.json()) as object }
  }
  const at = new Date(clock.now() + HOUR_MS).toISOString()
  expect(await send('POST', '/schedules', { name: 'once', workflow: 'report', at })).toMatchObject({ status: 200 })
  await send('POST', '/schedules/once/pause', {})
  clock.advance(2 * HOUR_MS)
  expect(await send('PATCH', '/schedules/once', { input: { month: 12 } })).toMatchObject({
    status: 200,
    body: { at, input: { month: 12 } },
  })
  expect(await send('PATCH', '/schedules/once', { at })).toMatchObject({
    status: 400,
    body: { detail: expect.stringContaining('is in the past') },
  })
})

test('a backfill takes no rate that would put its next moment beyond every date', async () => {
  const { ask } = await startConsole()
  const stretch = { from: '2026-01-01T00:00:00Z', to: '2026-01-02T00:00:00Z' }
  const body = JSON.stringify({ ...stretch, perMinute: 1e-300 })
  const answer = await ask('/schedules/report/backfill', { method: 'POST', body })
  expect(answer.status).toBe(400)
  expect(await answer.json()).toMatchObject({ detail: expect.stringContaining('perMinute') })
})
