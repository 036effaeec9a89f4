import { join } from 'node:path'
import { DEFAULT_MAX_STEPS } from '../../src/core/runs/step.ts'
import { DEFAULT_POLICY } from '../../src/core/safety/guard.ts'
import { KEEP_ALL } from '../../src/core/store/retention.ts'
import type { Config } from '../../src/project/config/load-config.ts'
import { DEFAULT_LIMITS } from '../../src/receive/limits/intake-limit.ts'

export const WEBHOOK_SECRET = 'a-webhook-secret-of-the-tests'

/** A retention that keeps everything. */
/** Configuration of an app with its sandbox, on free ports, with its data in `dataDir`. */
export function testConfig(dataDir: string, part: Partial<Config> = {}): Config {
  return {
    dataDir,
    workflowsDir: join(dataDir, 'workflows'),
    host: '127.0.0.1',
    ports: { receiver: 0, admin: 0, sandbox: 0, sandboxDownload: 0 },
    logLevel: 'silent',
    role: 'all',
    secretKey: null,
    oidcSecret: null,
    guardPolicy: DEFAULT_POLICY,
    service: { kind: 'sandbox' },
    slots: 20,
    drainMs: 5_000,
    engine: { hangMs: 60_000, heapBytes: 1024 ** 3, memoryBytes: 2 ** 35 },
    retention: KEEP_ALL,
    publicUrl: null,
    admin: { host: '127.0.0.1', url: null, basePath: '', metrics: 'token', proxy: null, oidc: null },
    limits: { steps: DEFAULT_MAX_STEPS },
    receive: DEFAULT_LIMITS,
    files: { burst: null },
    ...part,
  }
}

/** A service that a test never calls, for apps that only take deliveries. */
export const NO_SERVICE: Extract<Config['service'], { kind: 'real' }> = {
  kind: 'real',
  baseUrl: 'http://127.0.0.1:9/v1',
  apiKey: 'sk_sandbox_never_called',
  fallbackKey: null,
  webhookSecret: WEBHOOK_SECRET,
  signatureHeader: 'X-Service-Signature',
  plan: 'free',
  storages: { storage_a: 'storage_a', storage_b: 'storage_b', storage_c: 'storage_c' },
}

/** The same service, as variables of a process. */
export const NO_SERVICE_VARIABLES = {
  SERVICE_BASE_URL: NO_SERVICE.baseUrl,
  SERVICE_API_KEY: NO_SERVICE.apiKey,
  SERVICE_WEBHOOK_SECRET: WEBHOOK_SECRET,
  SERVICE_STORAGE_A: 'a',
  SERVICE_STORAGE_B: 'b',
  SERVICE_STORAGE_C: 'c',
}
