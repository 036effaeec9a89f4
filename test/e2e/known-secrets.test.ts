import { expect, test } from 'vitest'
import { planEndpoint } from '../../src/core/incoming/endpoint.ts'
import { KnownSecrets } from '../../src/notices/log/redact.ts'
import { startTestApp } from '../support/test-app.ts'

test('the app tells its log each secret that it works with, new ones too', async () => {
  const secrets = new KnownSecrets()
  const { app } = await startTestApp({ secrets })
  const { store } = app
  const [endpoint] = await store.listEndpoints()
  const known = endpoint?.secrets[0]?.value ?? ''
  expect(known.length).toBeGreaterThan(20)
  expect(secrets.redact(`it is ${known}`)).toBe('it is [redacted]')
  await store.addEndpoint(planEndpoint({ name: 'later', secret: 'a-secret-made-while-it-runs' }, Date.now()))
  await expect.poll(() => secrets.redact('a-secret-made-while-it-runs')).toBe('[redacted]')
})
