import { describe, expect, test } from 'vitest'
import { newId } from '../../src/core/ids.ts'
import { SignatureAlarm } from '../../src/receive/checks/signature-alarm.ts'
import { RefusalLedger } from '../../src/receive/refusal-ledger.ts'
import { eventBody, NOW } from '../support/fixtures.ts'
import { createTestReceiver } from '../support/test-receiver.ts'
import { openTestStore } from '../support/test-store.ts'

const forged = { 'X-Service-Signature': 'f'.repeat(64) }

test('P15: leaves a row with its verdict for every request', async () => {
  const { post, store, path, receiver } = await createTestReceiver()
  await post(eventBody('evt_1'))
  await post(eventBody('evt_1'))
  await post(eventBody('evt_1', 'file.deleted'))
  await post(eventBody('evt_2'), forged)
  await post('[]')
  await post('{}', { 'Content-Type': 'text/plain' })
  await post('{}', {}, `${path}x`)
  await receiver.stop()
  expect((await store.listDeliveries({ limit: 20 })).map((row) => row.verdict).reverse()).toEqual([
    ...['accepted', 'duplicate', 'conflict', 'bad_signature', 'bad_json', 'wrong_type', 'unknown_endpoint'],
  ])
  expect((await store.tallyRefusals()).map(({ verdict, listed }) => [verdict, listed])).toEqual([
    ['bad_json', 1],
    ['bad_signature', 1],
    ['unknown_endpoint', 1],
    ['wrong_type', 1],
  ])
})

test('counts what a flood leaves no time to list: nothing disappears', async () => {
  const store = openTestStore()
  const ledger = new RefusalLedger(store, () => {})
  const refusal = () => ({ id: newId('dlv', NOW), endpointId: null, receivedAt: NOW, bodyBytes: null, facts: {} })
  for (let n = 0; n < 3_000; n++) ledger.keep({ ...refusal(), verdict: n % 3 === 0 ? 'stale' : 'bad_signature' })
  await ledger.settle()
  const tally = await store.tallyRefusals()
  expect(tally.map(({ verdict, listed, dropped }) => [verdict, listed + dropped])).toEqual([
    ['bad_signature', 2_000],
    ['stale', 1_000],
  ])
  expect(await store.listDeliveries({ limit: 10_000 })).toHaveLength(tally.reduce((sum, { listed }) => sum + listed, 0))
})

test('says so when refusals cannot be kept, and goes on', async () => {
  const faults: unknown[] = []
  const failing = () => Promise.reject(new Error('disk full'))
  const ledger = new RefusalLedger({ saveRefusal: failing, countRefusals: failing }, (notice) => faults.push(notice))
  for (let n = 0; n < 300; n++) {
    ledger.keep({ id: `dlv_${n}`, endpointId: null, receivedAt: NOW, verdict: 'stale', bodyBytes: null, facts: {} })
  }
  await ledger.settle()
  expect(faults).toHaveLength(101)
})

describe('a burst of bad signatures', () => {
  test('after a success makes the endpoint suspect, once per episode', async () => {
    const { post, heard, endpoint } = await createTestReceiver()
    const suspicions = () => heard.filter((notice) => notice.kind === 'endpoint.suspect')
    await post(eventBody('evt_1'))
    for (let n = 0; n < 4; n++) await post(eventBody('evt_2'), forged)
    expect(suspicions()).toEqual([])
    for (let n = 0; n < 4; n++) await post(eventBody('evt_2'), forged)
    const suspicion = { kind: 'endpoint.suspect', endpoint: endpoint.id, failures: 5, lastSuccessAt: NOW }
    expect(suspicions()).toEqual([suspicion])

    await post(eventBody('evt_2'))
    for (let n = 0; n < 6; n++) await post(eventBody('evt_3'), forged)
    expect(suspicions()).toEqual([suspicion, suspicion])
  })

  test('says nothing of an endpoint that never had a success, nor when it is spread over hours', async () => {
    const { post, heard, clock } = await createTestReceiver()
    for (let n = 0; n < 6; n++) await post(eventBody('evt_1'), forged)
    await post(eventBody('evt_1'))
    for (let n = 0; n < 10; n++) {
      clock.advance('3m')
      await post(eventBody('evt_2'), forged)
    }
    expect(heard.filter((notice) => notice.kind === 'endpoint.suspect')).toEqual([])
  })

  test('is noticed across a restart, and told once', async () => {
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

  test('counts other refusals for nothing', () => {
    const watch = new SignatureAlarm()
    const at = { endpointId: 'end_1', receivedAt: NOW }
    watch.note({ ...at, verdict: 'accepted' })
    const verdicts = ['stale', 'bad_json', 'wrong_type', 'overloaded', 'disabled'] as const
    for (const verdict of verdicts) expect(watch.note({ ...at, verdict })).toBeNull()
    expect(watch.note({ ...at, endpointId: null, verdict: 'bad_signature' })).toBeNull()
  })
})
