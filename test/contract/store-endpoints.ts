import { expect, test } from 'vitest'
import { planEndpoint, planRotation } from '../../src/core/endpoint.ts'
import { NOW } from '../support/fixtures.ts'
import type { OpenStore } from './open-store.ts'

export function describeEndpoints(open: OpenStore): void {
  test('finds an endpoint by its path, with its secret', async () => {
    const { store } = open()
    const endpoint = planEndpoint({ name: 'main', secret: 'a-secret-that-is-long-enough' }, NOW)
    await store.addEndpoint(endpoint)
    expect(await store.findEndpoint(endpoint.path)).toEqual(endpoint)
    expect(await store.findEndpoint('main')).toBeNull()
  })

  test('refuses a name that is taken', async () => {
    const { store } = open()
    await store.addEndpoint(planEndpoint({ name: 'main' }, NOW))
    await expect(store.addEndpoint(planEndpoint({ name: 'main' }, NOW))).rejects.toMatchObject({ code: 'conflict' })
    expect(await store.listEndpoints()).toHaveLength(1)
  })

  test('sees an endpoint that another process added', async () => {
    const { store, reopen } = open()
    expect(await store.listEndpoints()).toEqual([])
    const endpoint = planEndpoint({ name: 'main' }, NOW)
    await reopen().addEndpoint(endpoint)
    expect(await store.findEndpoint(endpoint.path)).toEqual(endpoint)
  })

  test('keeps a changed endpoint, its secrets above all', async () => {
    const { store, reopen } = open()
    const endpoint = planEndpoint({ name: 'main' }, NOW)
    await store.addEndpoint(endpoint)
    const rotated = planRotation(endpoint, 'the-secret-that-comes-next', { overlapMs: 1_000, now: NOW })
    await store.updateEndpoint({ ...rotated, events: ['file.*'], status: 'disabled' })
    expect(await store.findEndpoint(endpoint.path)).toEqual({ ...rotated, events: ['file.*'], status: 'disabled' })
    expect(await reopen().listEndpoints()).toEqual(await store.listEndpoints())
    const unknown = { ...endpoint, id: 'end_gone' }
    await expect(store.updateEndpoint(unknown)).rejects.toMatchObject({ code: 'not_found' })
  })
}
