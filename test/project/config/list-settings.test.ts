import { expect, test } from 'vitest'
import { listSettings } from '../../../src/project/config/explain-config.ts'
import { tempFolder } from '../../support/temp-folder.ts'
import { testConfig } from '../../support/test-config.ts'

test('settings have a line each, and no key, secret or address of a channel is among them', () => {
  const canary = 'canary_of_a_secret'
  const keys = { apiKey: canary, fallbackKey: canary, webhookSecret: canary }
  const service = {
    kind: 'real',
    baseUrl: 'https://api.example.com/v1',
    plan: 'pro',
    signatureHeader: null,
    ...keys,
    storages: { storage_a: 'a', storage_b: 'b', storage_c: 'c' },
  } as const
  const alerts = {
    rules: [],
    channels: { ops: { kind: 'slack', url: `https://hooks.example.com/${canary}` } },
  } as const
  const config = testConfig(tempFolder(), { service, alerts, secretKey: canary })
  const settings = listSettings(config)
  expect(settings).toContainEqual({ setting: 'serviceBaseUrl', value: 'https://api.example.com/v1' })
  expect(settings).toContainEqual({ setting: 'retention.runs', value: String(config.retention.runs) })
  expect(JSON.stringify(settings)).not.toContain(canary)
})
