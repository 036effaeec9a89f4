import type { StorageName } from '../../core/service/storage.ts'
import type { Config } from '../../project/config/load-config.ts'

/** The service of a rehearsal: its own sandbox, with a key and a secret made for it. */
interface RehearsalService {
  baseUrl: string
  apiKey: string
  webhookSecret: string
}

const OWN_NAMES: Record<StorageName, string> = {
  storage_a: 'storage_a',
  storage_b: 'storage_b',
  storage_c: 'storage_c',
}
/** Requests a minute: a rehearsal waits for no limit. */
export const PLAN = 100_000

/**
 * The project's configuration for a rehearsal: its code, its guard and its limits. Each part is
 * named here: a new one, which may hold a secret, does not slip in.
 */
export function rehearsalConfig(config: Config, dataDir: string, service: RehearsalService): Config {
  const { workflowsDir, slots, drainMs, engine, limits, receive, guardPolicy, outside } = config
  return {
    ...{ workflowsDir, slots, drainMs, engine, limits, receive, dataDir },
    ...(outside && { outside }),
    // Every write is in the ledger, so that the rehearsal shows it.
    guardPolicy: { ...guardPolicy, ledger: 'all' },
    files: { burst: null },
    publicUrl: null,
    admin: { host: '127.0.0.1', url: null, basePath: '', metrics: 'token', proxy: null, oidc: null },
    // Its clock is set forward, and nothing of it is to age.
    retention: {
      ...{ runs: null, failures: null, refusals: null, deliveries: null },
      ...{ payloads: null, audit: null, effects: null, files: null },
    },
    host: '127.0.0.1',
    ports: { receiver: 0, admin: 0, sandbox: 0, sandboxDownload: 0 },
    ...{ logLevel: 'info', role: 'all', secretKey: null, oidcSecret: null },
    service: {
      ...{ kind: 'real', fallbackKey: null, signatureHeader: null, plan: PLAN, storages: OWN_NAMES },
      ...service,
    },
  }
}
