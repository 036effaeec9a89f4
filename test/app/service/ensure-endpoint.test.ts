import { expect, test } from 'vitest'
import { ensureEndpoint } from '../../../src/app/service/ensure-endpoint.ts'
import { currentSecret } from '../../../src/core/incoming/endpoint.ts'
import type { Config } from '../../../src/project/config/load-config.ts'
import { createTestReceiver } from '../../support/test-receiver.ts'

const [OLD, NEW] = ['a'.repeat(32), 'b'.repeat(32)]

test('of processes that start at once with a new secret, each goes on and one writes it', async () => {
  const { store } = await createTestReceiver()
  const ensure = (webhookSecret: string, now: number) => {
    const service = { kind: 'real', webhookSecret, signatureHeader: null } as unknown as Config['service']
    return ensureEndpoint(store, { service }, now)
  }
  await ensure(OLD, 1_000)
  const endpoints = await Promise.all([1, 2, 3].map(() => ensure(NEW, 2_000)))
  expect(endpoints.map(currentSecret)).toEqual([NEW, NEW, NEW])
  const kept = (await store.listEndpoints()).find(({ name }) => name === 'service')
  expect(kept?.secrets.map(({ value }) => value).sort()).toEqual([OLD, NEW])
})
