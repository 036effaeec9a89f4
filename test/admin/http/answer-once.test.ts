import { expect, test } from 'vitest'
import { UpshotError } from '../../../src/core/errors.ts'
import { planEndpoint } from '../../../src/core/incoming/endpoint.ts'
import { checkpoint, incoming } from '../../support/fixtures.ts'
import { openTestStore } from '../../support/test-store.ts'
import { startConsole, testSurroundings } from '../support/start-console.ts'

test('a repeated Idempotency-Key gets the first answer for 24 h, and nothing is done twice', async () => {
  const surroundings = testSurroundings()
  const { store, clock, ask } = await startConsole({ surroundings })
  await store.addEndpoint(planEndpoint({ name: 'main' }, clock.now()))
  const send = async (key: string, type = 'invoice.paid') => {
    const headers = { 'idempotency-key': key }
    const response = await ask('/events', { method: 'POST', headers: { ...headers, authorization: '' }, body: '{}' })
    expect(response.status).toBe(401)
    const answer = await ask('/events', { method: 'POST', headers, body: JSON.stringify({ type, data: {} }) })
    return { status: answer.status, body: (await answer.json()) as { event?: string; code?: string } }
  }
  const first = await send('a-key')
  expect(first).toMatchObject({ status: 200, body: { verdict: 'accepted' } })
  expect(await send('a-key')).toEqual(first)
  expect(surroundings.sent).toEqual([first.body.event])
  expect(await send('a-key', 'invoice.sent')).toMatchObject({ status: 409, body: { code: 'conflict' } })
  expect((await send('another')).body.event).not.toBe(first.body.event)
  clock.advance('24h')
  expect((await send('a-key')).status).toBe(200)
  expect(surroundings.sent).toHaveLength(3)
})

test('a fork that is asked for again with its key is made once', async () => {
  const { store, clock, ask } = await startConsole()
  await store.saveDelivery(incoming('evt_1', { receivedAt: clock.now() }))
  const [run] = await store.claimRuns('wrk_1', 1, clock.now())
  if (!run) throw new Error('a run was queued')
  await store.saveCheckpoint(run.lease, checkpoint('a'))
  await store.completeRun(run.lease, 'null', clock.now())
  const fork = async (): Promise<string> => {
    const request = { method: 'POST', headers: { 'idempotency-key': 'once' }, body: '{"fromStep":"a"}' }
    const reply = await ask(`/runs/${run.lease.runId}/fork`, request)
    return ((await reply.json()) as { id: string }).id
  }
  const [first, second] = [await fork(), await fork()]
  expect([first, second]).toEqual([expect.stringMatching(/^run_/), first])
})

test('an event that was saved before its answer was lost is sent again as it was', async () => {
  const surroundings = testSurroundings()
  const store = openTestStore()
  const bodies: unknown[] = []
  surroundings.sendEvent = async (event) => {
    bodies.push(event)
    if (bodies.length > 1) return 'duplicate'
    await store.saveDelivery(incoming(event.id, { body: JSON.stringify(event) }))
    throw new UpshotError('service_failed', 'The answer was lost.')
  }
  const { clock, ask } = await startConsole({ surroundings, store })
  await store.addEndpoint(planEndpoint({ name: 'main' }, clock.now()))
  const send = async () => {
    const headers = { 'idempotency-key': 'a-key' }
    return (await ask('/events', { method: 'POST', headers, body: '{"type":"invoice.paid","data":{}}' })).status
  }
  expect(await send()).toBe(502)
  clock.advance('1m')
  expect(await send()).toBe(200)
  expect(bodies[1]).toEqual(bodies[0])
})

test('a caller has 120 actions a minute', async () => {
  const { clock, ask } = await startConsole()
  const act = async () => (await ask('/runs/run_none/cancel', { method: 'POST', body: '{}' })).status
  for (let action = 0; action < 120; action++) expect(await act()).toBe(404)
  expect(await act()).toBe(429)
  clock.advance('1m')
  expect(await act()).toBe(404)
})
