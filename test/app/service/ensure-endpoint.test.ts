import { expect, test } from 'vitest'
import { ensureEndpoint } from '../../../src/app/service/ensure-endpoint.ts'
import { activeSecrets, currentSecret } from '../../../src/core/incoming/endpoint.ts'
import type { Store } from '../../../src/core/store/store.ts'
import type { Config } from '../../../src/project/config/load-config.ts'
import { createTestReceiver } from '../../support/test-receiver.ts'

const [OLD, NEW] = ['a'.repeat(32), 'b'.repeat(32)]

const ensureIn = (store: Store) => (webhookSecret: string, now: number) => {
  const service = { kind: 'real', webhookSecret, signatureHeader: null } as unknown as Config['service']
  return ensureEndpoint(store, { service }, now)
}

test('of processes that start at once with a new secret, each goes on and one writes it', async () => {
  const { store } = await createTestReceiver()
  const ensure = ensureIn(store)
  await ensure(OLD, 1_000)
  const endpoints = await Promise.all([1, 2, 3].map(() => ensure(NEW, 2_000)))
  expect(endpoints.map(currentSecret)).toEqual([NEW, NEW, NEW])
  const kept = (await store.listEndpoints()).find(({ name }) => name === 'service')
  expect(kept?.secrets.map(({ value }) => value).sort()).toEqual([OLD, NEW])
})

test('a machine that starts again with the variable of before does not end the secret that came after it', async () => {
  const { store } = await createTestReceiver()
  const ensure = ensureIn(store)
  const day = 86_400_000
  await ensure(OLD, 0)
  await ensure(NEW, day)
  expect(activeSecrets(await ensure(OLD, 3 * day), 10 * day)).toEqual([NEW, OLD])
  expect(activeSecrets(await ensure(NEW, 11 * day), 12 * day)).toEqual([OLD, NEW])
})
