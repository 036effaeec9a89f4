import { expect, test } from 'vitest'
import { markProbe, PROBE_HEADER } from '../../src/core/incoming/probe-mark.ts'
import { NOW } from '../support/fixtures.ts'
import { opensslHmac } from '../support/sign.ts'
import { createTestReceiver } from '../support/test-receiver.ts'

const KEY = Buffer.alloc(32, 7)
const FORGED = { 'X-Service-Signature': '00'.repeat(32) }
const BODY = '{"probe":"forged"}'

/** Verdicts in the ledger, oldest first. */
async function verdictsOf({ store, receiver }: Awaited<ReturnType<typeof createTestReceiver>>): Promise<string[]> {
  await receiver.stop()
  return (await store.listDeliveries({ limit: 100 })).map(({ verdict }) => verdict).reverse()
}

test('probes of our commands are answered as any delivery, listed as probes, and raise no alarm', async () => {
  const tested = await createTestReceiver({ probeKey: KEY })
  const { endpoint, post, store, heard } = tested
  const success = { id: 'evt_1', type: 'file.created', created: '2026-06-01T12:00:00.000Z', data: {} }
  await post(JSON.stringify(success)).expect(200)
  for (let probe = 0; probe < 6; probe++) {
    await post(BODY, { ...FORGED, [PROBE_HEADER]: markProbe(KEY, endpoint.path, NOW) }).expect(401)
  }
  const signed = {
    [PROBE_HEADER]: markProbe(KEY, endpoint.path, NOW),
    'X-Service-Signature': opensslHmac('canary-secret-0123456789abcdef', BODY),
  }
  await post(BODY, signed).expect(400)
  expect(await verdictsOf(tested)).toEqual(['accepted', ...Array(7).fill('probe')])
  const [last] = await store.listDeliveries({ limit: 1 })
  expect(last?.facts).toMatchObject({ answered: 'bad_json' })
  expect((await store.tallyRefusals()).map(({ verdict }) => verdict)).toEqual(['probe'])
  expect(heard.filter(({ kind }) => kind === 'endpoint.suspect')).toEqual([])
})

test('a mark that is forged, used before, of another path or too old makes no probe', async () => {
  const tested = await createTestReceiver({ probeKey: KEY })
  const { endpoint, post } = tested
  const used = markProbe(KEY, endpoint.path, NOW)
  const marks = [
    used,
    used,
    markProbe(Buffer.alloc(32, 8), endpoint.path, NOW),
    markProbe(KEY, 'another-path', NOW),
    markProbe(KEY, endpoint.path, NOW - 60_001),
    markProbe(KEY, endpoint.path, NOW + 60_001),
    'nonsense',
  ]
  for (const mark of marks) await post(BODY, { ...FORGED, [PROBE_HEADER]: mark }).expect(401)
  expect(await verdictsOf(tested)).toEqual(['probe', ...Array(6).fill('bad_signature')])
})

test('without a key no request counts as a probe of a command', async () => {
  const tested = await createTestReceiver()
  await tested.post(BODY, { ...FORGED, [PROBE_HEADER]: markProbe(KEY, tested.endpoint.path, NOW) }).expect(401)
  expect(await verdictsOf(tested)).toEqual(['bad_signature'])
})
