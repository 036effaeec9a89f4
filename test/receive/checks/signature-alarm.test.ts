import { expect, test } from 'vitest'
import { newId } from '../../../src/core/ids.ts'
import { eventBody, NOW } from '../../support/fixtures.ts'
import { createTestReceiver } from '../../support/test-receiver.ts'

const forged = { 'X-Service-Signature': 'f'.repeat(64) }

test('a burst of bad signatures after a success makes the endpoint suspect, once per episode', async () => {
  const { post, heard, endpoint } = await createTestReceiver()
  const suspicions = () => heard.filter((notice) => notice.kind === 'endpoint.suspect')
  await post(eventBody('evt_1'))
  for (let n = 0; n < 4; n++) await post(eventBody('evt_2'), forged)
  expect(suspicions()).toEqual([])
  for (let n = 0; n < 4; n++) await post(eventBody('evt_2'), forged)
  const { id, name: endpointName } = endpoint
  const suspicion = { kind: 'endpoint.suspect', endpoint: id, endpointName, failures: 5, lastSuccessAt: NOW }
  expect(suspicions()).toEqual([suspicion])

  await post(eventBody('evt_2'))
  for (let n = 0; n < 6; n++) await post(eventBody('evt_3'), forged)
  expect(suspicions()).toEqual([suspicion, suspicion])
})

test('bad signatures raise no alarm without a success before, or when spread over hours', async () => {
  const { post, heard, clock } = await createTestReceiver()
  for (let n = 0; n < 6; n++) await post(eventBody('evt_1'), forged)
  await post(eventBody('evt_1'))
  for (let n = 0; n < 10; n++) {
    clock.advance('3m')
    await post(eventBody('evt_2'), forged)
  }
  expect(heard.filter((notice) => notice.kind === 'endpoint.suspect')).toEqual([])
})

test('a burst of bad signatures is noticed across a restart and reported once', async () => {
  const first = await createTestReceiver()
  await first.post(eventBody('evt_1'))
  for (let n = 0; n < 3; n++) await first.post(eventBody('evt_2'), forged)
  await first.receiver.stop()
  const restart = (post: typeof first.post) => post(eventBody('evt_2'), forged, first.path)
  const second = await createTestReceiver({ store: first.store })
  for (let n = 0; n < 2; n++) await restart(second.post)
  expect(second.heard).toContainEqual(expect.objectContaining({ kind: 'endpoint.suspect' }))
  await second.receiver.stop()
  const third = await createTestReceiver({ store: first.store })
  for (let n = 0; n < 5; n++) await restart(third.post)
  expect(third.heard.filter((notice) => notice.kind === 'endpoint.suspect')).toEqual([])
})

test('a burst of bad signatures is noticed after a restart, however many deliveries came to others', async () => {
  const { post, store, receiver, path } = await createTestReceiver()
  await post(eventBody('evt_1'))
  await receiver.stop()
  const about = {
    endpointId: 'end_other',
    receivedAt: NOW + 1,
    verdict: 'bad_signature',
    bodyBytes: 9,
    facts: {},
  } as const
  for (let n = 0; n < 1_000; n++) await store.saveRefusal({ ...about, id: newId('dlv', NOW + 1) })
  const again = await createTestReceiver({ store })
  for (let n = 0; n < 5; n++) await again.post(eventBody('evt_2'), forged, path)
  expect(again.heard).toContainEqual(expect.objectContaining({ kind: 'endpoint.suspect' }))
})
