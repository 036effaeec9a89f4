import { expect, test } from 'vitest'
import { planPin } from '../../src/core/incoming/endpoint.ts'
import { SCHEME_PRESETS } from '../../src/core/incoming/signature.ts'
import { eventBody } from '../support/fixtures.ts'
import { createTestReceiver } from '../support/test-receiver.ts'

const learning = { endpoint: { status: 'learning' as const } }

test('captured deliveries that verify are accepted once the scheme is pinned, and forged ones dropped', async () => {
  const { post, store, receiver, endpoint, heard } = await createTestReceiver(learning)
  await post(eventBody('evt_1'))
  await post(eventBody('evt_2'), { 'X-Service-Signature': 'f'.repeat(64) })
  await post(eventBody('evt_3'))
  await receiver.takeInCaptures()
  expect(await store.listEvents({ limit: 9 })).toEqual([])
  await store.updateEndpoint(planPin(endpoint, SCHEME_PRESETS.hex))
  await new Promise(setImmediate)
  await Promise.all([receiver.takeInCaptures(), receiver.takeInCaptures()])
  expect((await store.listEvents({ limit: 9 })).map(({ id }) => id).sort()).toEqual(['evt_1', 'evt_3'])
  expect(await store.listRuns({ limit: 9 })).toHaveLength(2)
  expect(await store.listCaptures(endpoint.id)).toEqual([])
  const verdicts = heard.flatMap((notice) => (notice.kind === 'delivery.received' ? [notice.verdict] : []))
  expect(verdicts.slice(3)).toEqual(['accepted', 'bad_signature', 'accepted'])
})

test('captures that cannot be saved yet stay, and are taken in later without a second run', async () => {
  let isLoaded = false
  const routes = () => {
    if (isLoaded) return [{ eventType: '*', workflow: 'follow-up' }]
    throw new Error('no process has loaded the workflows yet')
  }
  const { post, store, receiver, endpoint } = await createTestReceiver({ ...learning, routes })
  await post(eventBody('evt_1'))
  await post(eventBody('evt_2'))
  await store.updateEndpoint(planPin(endpoint, SCHEME_PRESETS.hex))
  await new Promise(setImmediate)
  await expect(receiver.takeInCaptures()).rejects.toThrow('no process')
  expect(await store.listCaptures(endpoint.id)).toHaveLength(2)
  // The service does try again meanwhile.
  isLoaded = true
  await post(eventBody('evt_1'))
  await receiver.takeInCaptures()
  expect(await store.listRuns({ limit: 9 })).toHaveLength(2)
  expect(await store.listCaptures(endpoint.id)).toEqual([])
})
