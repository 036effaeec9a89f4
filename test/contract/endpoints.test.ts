import { expect } from 'vitest'
import {
  newSecret,
  planEndpoint,
  planForgetting,
  planRetirement,
  planRotation,
} from '../../src/core/incoming/endpoint.ts'
import type { Store } from '../../src/core/store/store.ts'
import { incoming, NOW } from '../support/fixtures.ts'
import { describeStores } from './describe-stores.ts'

describeStores((test) => {
  test('an endpoint is found by its path, with its secret', async ({ store }) => {
    const endpoint = planEndpoint({ name: 'main', secret: 'a-secret-that-is-long-enough' }, NOW)
    await store.addEndpoint(endpoint)
    expect(await store.findEndpoint(endpoint.path)).toEqual(endpoint)
    expect(await store.findEndpoint('main')).toBeNull()
  })

  test('a second endpoint of the same name is refused', async ({ store }) => {
    await store.addEndpoint(planEndpoint({ name: 'main' }, NOW))
    await expect(store.addEndpoint(planEndpoint({ name: 'main' }, NOW))).rejects.toMatchObject({ code: 'conflict' })
    expect(await store.listEndpoints()).toHaveLength(1)
  })

  test('a changed endpoint is stored with its secrets', async ({ store, reopen }) => {
    const endpoint = planEndpoint({ name: 'main' }, NOW)
    await store.addEndpoint(endpoint)
    const rotated = planRotation(endpoint, 'the-secret-that-comes-next', { overlapMs: 1_000, now: NOW })
    await store.updateEndpoint({ ...rotated, events: ['file.*'], status: 'disabled' })
    const changed = { ...rotated, events: ['file.*'], status: 'disabled', revision: 1 }
    expect(await store.findEndpoint(endpoint.path)).toEqual(changed)
    expect(await (await reopen()).listEndpoints()).toEqual(await store.listEndpoints())
    const unknown = { ...endpoint, id: 'end_gone' }
    await expect(store.updateEndpoint(unknown)).rejects.toMatchObject({ code: 'not_found' })
  })

  test('a change of an older revision of an endpoint is refused', async ({ store, reopen }) => {
    const endpoint = planEndpoint({ name: 'main' }, NOW)
    await store.addEndpoint(endpoint)
    await (await reopen()).updateEndpoint({ ...endpoint, status: 'disabled' })
    await expect(store.updateEndpoint({ ...endpoint, events: ['file.*'] })).rejects.toMatchObject({ code: 'conflict' })
    expect(await store.findEndpoint(endpoint.path)).toMatchObject({ status: 'disabled', events: ['*'], revision: 1 })
  })

  test('a removed endpoint frees its name, and its deliveries still name it', async ({ store, reopen }) => {
    const endpoint = planEndpoint({ name: 'main', account: 'shop' }, NOW)
    await store.addEndpoint(endpoint)
    await store.saveDelivery(incoming('evt_1', { endpointId: endpoint.id, account: 'shop' }))
    expect(await store.findEndpoint(endpoint.path)).not.toBeNull()
    await (await reopen()).removeEndpoint(endpoint, NOW + 5)
    expect(await store.findEndpoint(endpoint.path)).toBeNull()
    expect(await store.listEndpoints()).toEqual([])
    await expect(store.updateEndpoint(endpoint)).rejects.toMatchObject({ code: 'not_found' })
    await expect(store.removeEndpoint(endpoint, NOW)).rejects.toMatchObject({ code: 'not_found' })

    const next = planEndpoint({ name: 'main' }, NOW + 1)
    await store.addEndpoint(next)
    expect(await store.listEndpointNames()).toEqual([
      { id: endpoint.id, name: 'main', removedAt: NOW + 5 },
      { id: next.id, name: 'main', removedAt: null },
    ])
    expect(await store.listSecretUses(endpoint.id)).toEqual([])
    expect(await store.findEvents('evt_1')).toMatchObject([{ id: 'evt_1', account: 'shop' }])
    expect(await store.listDeliveries({ limit: 5, endpointId: endpoint.id })).toHaveLength(1)
  })

  test('a removed endpoint loses its captures and captures nothing more', async ({ store }) => {
    const endpoint = { ...planEndpoint({ name: 'main' }, NOW), status: 'learning' } as const
    await store.addEndpoint(endpoint)
    const capture = { endpointId: endpoint.id, receivedAt: NOW, headers: {}, body: Buffer.from('{}') }
    expect(await store.saveCapture({ id: 'dlv_1', ...capture })).toBe(true)
    await store.removeEndpoint(endpoint, NOW)
    expect(await store.listCaptures(endpoint.id)).toEqual([])
    expect(await store.saveCapture({ id: 'dlv_2', ...capture })).toBe(false)
  })

  test('events are found in an account that their endpoint has left', async ({ store }) => {
    const endpoint = planEndpoint({ name: 'main', account: 'one' }, NOW)
    await store.addEndpoint(endpoint)
    await store.saveDelivery(incoming('evt_1', { account: 'one' }))
    await store.updateEndpoint({ ...endpoint, account: 'two' })
    expect(await store.findEvents('evt_1')).toMatchObject([{ account: 'one' }])
  })

  test('the last use of each secret is known to the minute', async ({ store }) => {
    const endpoint = planEndpoint({ name: 'main' }, NOW)
    await store.addEndpoint(endpoint)
    await store.updateEndpoint(planRotation(endpoint, newSecret(endpoint.scheme), { overlapMs: 900_000, now: NOW }))
    const use = (eventId: string, secret: number, receivedAt: number) =>
      store.saveDelivery(incoming(eventId, { endpointId: endpoint.id, facts: { secret }, receivedAt }))
    await use('evt_1', 0, NOW + 1_000)
    await use('evt_2', 0, NOW + 60_999)
    expect(await store.listSecretUses(endpoint.id)).toEqual([
      { position: 0, lastUsedAt: NOW + 1_000 },
      { position: 1, lastUsedAt: null },
    ])
    await use('evt_2', 1, NOW + 61_000)
    await use('evt_3', 0, NOW + 61_000)
    expect((await store.listSecretUses(endpoint.id)).map(({ lastUsedAt }) => lastUsedAt)).toEqual([
      NOW + 61_000,
      NOW + 61_000,
    ])
    await store.addEndpoint(planEndpoint({ name: 'unused' }, NOW))
    expect(await store.listEndpointUses()).toEqual([{ endpointId: endpoint.id, lastUsedAt: NOW + 61_000 }])
  })

  test('a clock that was a year ahead hides no use of a secret once it is set back', async ({ store, reopen }) => {
    const endpoint = planEndpoint({ name: 'main' }, NOW)
    await store.addEndpoint(endpoint)
    const use = (of: Store, receivedAt: number) =>
      of.saveDelivery(incoming('evt_1', { endpointId: endpoint.id, facts: { secret: 0 }, receivedAt }))
    const uses = async () => (await store.listSecretUses(endpoint.id)).map(({ lastUsedAt }) => lastUsedAt)
    await use(store, NOW + 365 * 86_400_000)
    await use(store, NOW)
    expect(await uses()).toEqual([NOW])
    // The clock of another process is a minute behind.
    await use(await reopen(), NOW - 60_000)
    expect(await uses()).toEqual([NOW])
  })

  test('the last use of a secret survives a change of its endpoint and a restart', async ({ store, reopen }) => {
    const endpoint = planEndpoint({ name: 'main' }, NOW)
    await store.addEndpoint(endpoint)
    await store.saveDelivery(incoming('evt_1', { endpointId: endpoint.id, facts: { secret: 0 }, receivedAt: NOW }))
    const rotated = planRotation(endpoint, newSecret(endpoint.scheme), { overlapMs: 900_000, now: NOW + 1 })
    await store.updateEndpoint(rotated)
    expect(await (await reopen()).listSecretUses(endpoint.id)).toEqual([
      { position: 0, lastUsedAt: NOW },
      { position: 1, lastUsedAt: null },
    ])
    await store.updateEndpoint({ ...planRetirement(rotated, NOW + 2), revision: 1 })
    expect(await store.listSecretUses(endpoint.id)).toEqual([
      { position: 0, lastUsedAt: NOW },
      { position: 1, lastUsedAt: null },
    ])
    const forgotten = planForgetting(planRetirement(rotated, NOW + 2), NOW + 40 * 86_400_000)
    await store.updateEndpoint({ ...forgotten, revision: 2 })
    expect(await store.listSecretUses(endpoint.id)).toEqual([{ position: 1, lastUsedAt: null }])
  })
})
