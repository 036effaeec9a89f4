import { expect, test } from 'vitest'
import { newId } from '../../src/core/ids.ts'
import { RefusalLedger } from '../../src/receive/refusal-ledger.ts'
import { eventBody, NOW } from '../support/fixtures.ts'
import { createTestReceiver } from '../support/test-receiver.ts'
import { openTestStore } from '../support/test-store.ts'

const forged = { 'X-Service-Signature': 'f'.repeat(64) }

test('P15: every refused request leaves a row with its verdict', async () => {
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
    'accepted',
    'duplicate',
    'conflict',
    'bad_signature',
    'bad_json',
    'wrong_type',
    'unknown_endpoint',
  ])
  expect((await store.tallyRefusals()).map(({ verdict, listed }) => [verdict, listed])).toEqual([
    ['bad_json', 1],
    ['bad_signature', 1],
    ['unknown_endpoint', 1],
    ['wrong_type', 1],
  ])
})

test('a flood of refusals is counted where it cannot be listed', async () => {
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

test('refusals whose write failed are counted with the next one that is written', async () => {
  const store = openTestStore()
  const through = { saveRefusal: () => Promise.reject(new Error('disk full')), countRefusals: store.countRefusals }
  const ledger = new RefusalLedger(through, () => {})
  const refusal = () => ({ id: newId('dlv', NOW), endpointId: null, receivedAt: NOW, bodyBytes: null, facts: {} })
  for (let n = 0; n < 3; n++) ledger.keep({ ...refusal(), verdict: 'stale' })
  await new Promise(setImmediate)
  through.saveRefusal = store.saveRefusal as never
  ledger.keep({ ...refusal(), verdict: 'bad_signature' })
  await ledger.settle()
  expect(await store.tallyRefusals()).toEqual([
    { verdict: 'bad_signature', listed: 1, dropped: 0 },
    { verdict: 'stale', listed: 0, dropped: 3 },
  ])
})

test('refusals that cannot be written are reported, and the receiver goes on', async () => {
  const faults: unknown[] = []
  const failing = () => Promise.reject(new Error('disk full'))
  const ledger = new RefusalLedger({ saveRefusal: failing, countRefusals: failing }, (notice) => faults.push(notice))
  for (let n = 0; n < 300; n++) {
    ledger.keep({ id: `dlv_${n}`, endpointId: null, receivedAt: NOW, verdict: 'stale', bodyBytes: null, facts: {} })
  }
  await ledger.settle()
  expect(faults).toHaveLength(101)
})
