import { WEBHOOK_SECRET } from '../../support/test-config.ts'

/** The variables of a real service at this base URL, with our names of the storages. */
export function serviceEnv(baseUrl: string, apiKey: string): Record<string, string> {
  return {
    SERVICE_BASE_URL: baseUrl,
    SERVICE_API_KEY: apiKey,
    SERVICE_WEBHOOK_SECRET: WEBHOOK_SECRET,
    SERVICE_STORAGE_A: 'storage_a',
    SERVICE_STORAGE_B: 'storage_b',
    SERVICE_STORAGE_C: 'storage_c',
  }
}
