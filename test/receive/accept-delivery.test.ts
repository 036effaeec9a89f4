import { expect, test } from 'vitest'
import { deriveEventId } from '../../src/core/ids.ts'
import { planEndpoint } from '../../src/core/incoming/endpoint.ts'
import { eventBody, NOW } from '../support/fixtures.ts'
import { opensslHmac } from '../support/sign.ts'
import { createTestReceiver, SECRET } from '../support/test-receiver.ts'

test('an event with a number that cannot be read exactly is accepted, and the ledger names it', async () => {
  const { post, store } = await createTestReceiver()
  const body = eventBody('evt_1').replace('"data":{', '"data":{"node":9007199254740993,')
  expect(body).toContain('9007199254740993')
  expect((await post(body)).status).toBe(200)
  expect(await store.listDeliveries({ limit: 1 })).toMatchObject([{ facts: { unsafeNumber: 'data.node' } }])
})

test('the traceparent of a verified delivery is kept, and no other one', async () => {
  const { post, store } = await createTestReceiver()
  const traceparent = `00-${'a'.repeat(32)}-${'b'.repeat(16)}-01`
  await post(eventBody('evt_1'), { traceparent })
  await post(eventBody('evt_2'), { traceparent: `${traceparent}; drop` })
  await post(eventBody('evt_3'), { traceparent, 'X-Service-Signature': 'sha256=00' })
  const facts = (await store.listDeliveries({ limit: 10 })).map((row) => row.facts.traceparent)
  expect(facts).toEqual([undefined, undefined, traceparent])
})

test('an event that comes by two endpoints starts its runs once, whichever of them wants its type', async () => {
  const { post, store, heard, path: files } = await createTestReceiver({ endpoint: { events: ['file.*'] } })
  const transfers = planEndpoint({ name: 'transfers', secret: SECRET, events: ['transfer.*'] }, NOW)
  await store.addEndpoint(transfers)
  const both = [files, `/hooks/${transfers.path}`]
  for (const type of ['file.created', 'transfer.completed', 'folder.created']) {
    for (const to of [...both, ...both]) expect((await post(eventBody(`evt_${type}`, type), {}, to)).status).toBe(200)
  }
  const runs = await store.listRuns({ limit: 9 })
  expect(runs.map(({ eventId }) => eventId).sort()).toEqual(['evt_file.created', 'evt_transfer.completed'])
  const started = heard.filter((notice) => 'workflows' in notice && String(notice.workflows) !== '')
  expect(started).toMatchObject(runs.map(() => ({ runs: 1, workflows: ['follow-up'] })))
})

test('an event starts its runs though the endpoint that left its type out is gone by then', async () => {
  const { post, store } = await createTestReceiver()
  const transfers = planEndpoint({ name: 'transfers', secret: SECRET, events: ['transfer.*'] }, NOW)
  await store.addEndpoint(transfers)
  await post(eventBody('evt_1'), {}, `/hooks/${transfers.path}`)
  await store.removeEndpoint(transfers, NOW)
  for (const _ of [1, 2]) await post(eventBody('evt_1'))
  expect(await store.listRuns({ limit: 9 })).toMatchObject([{ eventId: 'evt_1', workflow: 'follow-up' }])
})

test('P10: the signature covers the bytes as they came, not as parsed', async () => {
  const { post } = await createTestReceiver()
  const spaced = `  ${eventBody('evt_1').replaceAll(',', ' ,\n ')}\n`
  expect((await post(spaced)).status).toBe(200)
  expect(
    (await post(JSON.stringify(JSON.parse(spaced)), { 'X-Service-Signature': opensslHmac(SECRET, spaced) })).status,
  ).toBe(401)
})

test.each([
  ['no JSON', 'not json'],
  ['no object', '"evt_1"'],
  ['no id', JSON.stringify({ type: 'file.created', created: '2026-06-01T00:00:00Z', data: {} })],
  ['a foreign id', eventBody('message_1')],
  ['no data', JSON.stringify({ id: 'evt_1', type: 'file.created', created: '2026-06-01T00:00:00Z' })],
  ['the type of an event that only we make', eventBody('evt_1').replace('file.created', 'upshot.approval.closed')],
  ['the id of an event that only we make', eventBody(deriveEventId('run_1', 'send'))],
  ['a poisoned key', `{"__proto__":{"x":1},${eventBody('evt_1').slice(1)}`],
])('a signed body with %s is answered 400 and stores no event', async (_what, body) => {
  const { post, store } = await createTestReceiver()
  const response = await post(body)
  expect(response.status).toBe(400)
  expect(response.body).toMatchObject({ success: false, error: { code: 'invalid_request', details: {} } })
  expect(await store.listEvents({ limit: 1 })).toEqual([])
  expect(await store.listDeliveries({ limit: 1 })).toMatchObject([{ verdict: 'bad_json' }])
})

test('an invalid event is answered with the field that is wrong', async () => {
  const { post } = await createTestReceiver()
  const response = await post(JSON.stringify({ id: 'evt_1', type: 'file.created', created: 'yesterday', data: {} }))
  expect(response.body.error.details.faults).toMatchObject([{ at: 'created' }])
})

test('the ledger names the first faulty field of a body that is no event, and a poisonous key', async () => {
  const { post, heard } = await createTestReceiver()
  await post(JSON.stringify({ ...JSON.parse(eventBody('evt_1')), type: 'no type' }))
  await post(eventBody('evt_1').replace('"data":{', '"data":{"__proto__":{"x":1},'))
  const reasons = heard.flatMap((notice) => (notice.kind === 'delivery.received' ? [notice.facts.reason] : []))
  expect(reasons[0]).toMatch(/needs id, type, created and data\. type: must be words joined by dots/)
  expect(reasons[1]).toContain('"__proto__"')
})
