import { expect, test } from 'vitest'
import { newId } from '../../src/core/ids.ts'
import { CAPTURE_LIMITS, type Capture, type RefusedDelivery } from '../../src/core/incoming/delivery.ts'
import { planEndpoint, planPin } from '../../src/core/incoming/endpoint.ts'
import { SCHEME_PRESETS } from '../../src/core/incoming/signature.ts'
import type { Store } from '../../src/core/store/store.ts'
import { incoming, NOW } from '../support/fixtures.ts'
import type { OpenStore } from './open-store.ts'

const MAX_REFUSALS = 10_000

function refusal(verdict: RefusedDelivery['verdict'] = 'bad_signature'): RefusedDelivery {
  return { id: newId('dlv', NOW), endpointId: null, receivedAt: NOW, verdict, bodyBytes: 12, facts: {} }
}

/** What the ledger lists by verdict, counted. */
async function countRows(store: Store): Promise<Record<string, number>> {
  const rows = await store.listDeliveries({ limit: 100_000 })
  return Object.fromEntries(
    Object.entries(Object.groupBy(rows, (row) => row.verdict)).map(([verdict, those]) => [verdict, those.length]),
  )
}

export function describeRefusals(open: OpenStore): void {
  test('keeps the newest refusals of each verdict, counts the others, and touches no accepted delivery', async () => {
    const { store } = open()
    await store.saveDelivery(incoming('evt_old'))
    await store.saveDelivery(incoming('evt_old'))
    await store.saveRefusal(refusal('stale'))
    const refusals = Array.from({ length: MAX_REFUSALS + 30 }, () => refusal())
    await Promise.all(refusals.map((each) => store.saveRefusal(each)))

    expect(await countRows(store)).toEqual({ accepted: 1, duplicate: 1, stale: 1, bad_signature: MAX_REFUSALS })
    expect(await store.tallyRefusals()).toEqual([
      { verdict: 'bad_signature', listed: MAX_REFUSALS, dropped: 30 },
      { verdict: 'stale', listed: 1, dropped: 0 },
    ])
    const newest = (await store.listDeliveries({ limit: 1 })).map((row) => row.id)
    expect(newest).toEqual([refusals.at(-1)?.id])
    const listed = new Set((await store.listDeliveries({ limit: 100_000 })).map((row) => row.id))
    expect(refusals.slice(0, 31).map(({ id }) => listed.has(id))).toEqual([...Array(30).fill(false), true])
  })

  test('counts refusals that leave no row', async () => {
    const { store, reopen } = open()
    await store.saveRefusal(refusal('overloaded'))
    await store.countRefusals({ overloaded: 7, stale: 2 })
    await store.countRefusals({ overloaded: 1 })
    expect(await reopen().tallyRefusals()).toEqual([
      { verdict: 'overloaded', listed: 1, dropped: 8 },
      { verdict: 'stale', listed: 0, dropped: 2 },
    ])
  })
}

const learning = (name: string) => ({ ...planEndpoint({ name }, NOW), status: 'learning' as const })

function capture(endpointId: string, body = 'a body', part: Partial<Capture> = {}): Capture {
  const id = newId('dlv', NOW)
  return { id, endpointId, receivedAt: NOW, headers: { 'x-signature': 'abc' }, body: Buffer.from(body), ...part }
}

export function describeCaptures(open: OpenStore): void {
  test('gives captures back byte by byte, oldest first, to their endpoint only', async () => {
    const { store, reopen } = open()
    const [one, two] = [learning('one'), learning('two')]
    for (const endpoint of [one, two]) await store.addEndpoint(endpoint)
    const bytes = Buffer.from([0, 0xff, 0xfe, 10])
    const captures = [capture(one.id, '', { body: bytes }), capture(one.id, 'b')]
    for (const each of captures) expect(await store.saveCapture(each)).toBe(true)
    await store.saveCapture(capture(two.id))
    const listed = await reopen().listCaptures(one.id)
    expect(listed.map((each) => ({ ...each, body: Buffer.from(each.body) }))).toEqual(captures)
    await store.dropCaptures(one.id)
    expect(await store.listCaptures(one.id)).toEqual([])
    expect(await store.listCaptures(two.id)).toHaveLength(1)
  })

  test('keeps the newest captures of an endpoint, bounded in number and in bytes', async () => {
    const { store } = open()
    const endpoint = learning('main')
    await store.addEndpoint(endpoint)
    const many = Array.from({ length: CAPTURE_LIMITS.count + 5 }, () => capture(endpoint.id))
    for (const each of many) await store.saveCapture(each)
    expect((await store.listCaptures(endpoint.id)).map(({ id }) => id)).toEqual(many.slice(5).map(({ id }) => id))

    const large = Array.from({ length: 3 }, () => capture(endpoint.id, 'x'.repeat(CAPTURE_LIMITS.bytes / 2 - 100)))
    for (const each of large) await store.saveCapture(each)
    expect((await store.listCaptures(endpoint.id)).map(({ id }) => id)).toEqual(large.slice(1).map(({ id }) => id))

    expect(await store.saveCapture(capture(endpoint.id, 'x'.repeat(CAPTURE_LIMITS.bytes)))).toBe(false)
    expect(await store.listCaptures(endpoint.id)).toHaveLength(2)
  })

  test('captures for no endpoint that does not learn, and drops all when the scheme is pinned', async () => {
    const { store, reopen } = open()
    const endpoint = learning('main')
    await store.addEndpoint(endpoint)
    await store.saveCapture(capture(endpoint.id))
    await reopen().updateEndpoint(planPin(endpoint, SCHEME_PRESETS.base64))
    expect(await store.listCaptures(endpoint.id)).toEqual([])
    expect(await store.findEndpoint(endpoint.path)).toMatchObject({ status: 'active', scheme: SCHEME_PRESETS.base64 })
    expect(await store.saveCapture(capture(endpoint.id))).toBe(false)
    expect(await store.saveCapture(capture('end_unknown'))).toBe(false)
  })

  test('writes its probe', async () => {
    const { store } = open()
    expect(await store.checkWritable(NOW)).toEqual({ isMigrated: true })
  })
}
