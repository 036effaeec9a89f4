import { expect, test } from 'vitest'
import { planPin } from '../../src/core/incoming/endpoint.ts'
import { solveCaptures } from '../../src/core/solver/solve-scheme.ts'
import { eventBody, NOW } from '../support/fixtures.ts'
import { opensslMac } from '../support/sign.ts'
import { createTestReceiver, SECRET } from '../support/test-receiver.ts'

const BODY = eventBody('evt_1')

const base64 = (body: string) => opensslMac('sha512', SECRET, Buffer.from(body)).toString('base64')

test('P13: an endpoint accepts no delivery until its scheme is known, and the next retry from then on', async () => {
  const { post, store, endpoint, heard } = await createTestReceiver({ endpoint: { status: 'learning' } })
  const headers = { 'X-Service-Signature': undefined, 'X-Their-Signature': `sha512=${base64(BODY)}` }
  const first = await post(BODY, headers)
  expect([first.status, first.headers['retry-after']]).toEqual([503, '60'])
  expect(heard).toMatchObject([{ kind: 'delivery.received', verdict: 'learning', runs: 0, event: null }])
  expect(await store.listEvents({ limit: 1 })).toEqual([])
  expect(await store.listRuns({ limit: 1 })).toEqual([])

  const captures = await store.listCaptures(endpoint.id)
  const solution = await solveCaptures(captures, { secrets: [SECRET] }, async () => {})
  if (solution.kind !== 'match') throw new Error(`no match: ${JSON.stringify(solution)}`)
  await store.updateEndpoint(planPin(endpoint, solution.scheme))
  const retry = await post(BODY, headers)
  expect(retry.body.data).toEqual({ verdict: 'accepted', event: 'evt_1' })
  expect(await store.listRuns({ limit: 10 })).toHaveLength(1)
})

test('a capture keeps the body and the headers that a signature may cover, and no credential', async () => {
  const { post, store, endpoint } = await createTestReceiver({ endpoint: { status: 'learning' } })
  const bytes = Buffer.from([0x7b, 0, 0xff, 0xfe, 0x0a])
  await post(bytes, {
    'X-Service-Signature': 'abc',
    'X-Service-Timestamp': '1767225600',
    Authorization: 'Bearer canary-token',
    Cookie: 'session=canary-cookie',
    'X-Api-Key': 'canary-key',
    'X-Signature-Token': 'canary-token',
    'User-Agent': 'someone',
  })
  const [capture] = await store.listCaptures(endpoint.id)
  expect(capture).toMatchObject({
    endpointId: endpoint.id,
    receivedAt: NOW,
    headers: { 'x-service-signature': 'abc', 'x-service-timestamp': '1767225600' },
  })
  expect(Object.keys(capture?.headers ?? {})).toHaveLength(2)
  expect(Buffer.from(capture?.body ?? []).equals(bytes)).toBe(true)
})
