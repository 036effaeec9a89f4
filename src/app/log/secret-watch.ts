import type { AlertChannel } from '../../core/alerts/alert-rule.ts'
import type { Store } from '../../core/store/store.ts'
import type { Clock } from '../../core/time.ts'
import type { KnownSecrets } from '../../notices/log/redact.ts'
import type { Config } from '../../project/config/load-config.ts'
import type { EmbeddedSandbox } from '../service/embedded-sandbox.ts'

interface Parts {
  config: Pick<Config, 'service' | 'secretKey' | 'oidcSecret' | 'alerts' | 'database'>
  store: Pick<Store, 'readSetupVersion' | 'listEndpoints' | 'listAccounts'>
  clock: Clock
  secrets: KnownSecrets
  embedded: () => EmbeddedSandbox | null
}

/** Accounts change without a version, so they are read again after this time at the latest. */
const READ_EVERY_MS = 10_000

/** Keeps the log informed of every secret that this process works with. */
export class SecretWatch {
  readonly #parts: Parts
  #read = { version: -1, at: Number.NEGATIVE_INFINITY }

  constructor(parts: Parts) {
    this.#parts = parts
  }

  /** Call it after each change of the store; it reads only where secrets may have changed. */
  async refresh(): Promise<void> {
    const { config, store, clock, secrets, embedded } = this.#parts
    const version = await store.readSetupVersion()
    if (version === this.#read.version && clock.now() - this.#read.at < READ_EVERY_MS) return
    this.#read = { version, at: clock.now() }
    const { service, secretKey, oidcSecret, alerts, database } = config
    const [endpoints, accounts] = await Promise.all([store.listEndpoints(), store.listAccounts()])
    const keys = [...accounts, ...(service.kind === 'real' ? [service] : [])].flatMap((each) => [
      each.apiKey,
      each.fallbackKey,
    ])
    const values = endpoints.flatMap((endpoint) => endpoint.secrets.map(({ value }) => value))
    const channels = Object.values(alerts?.channels ?? {}).flatMap(listSecrets)
    const { hosts = [], directHosts, readHosts } = database ?? {}
    const passwords = [...hosts, ...(directHosts ?? []), ...(readHosts ?? [])].map(({ password }) => password)
    const all = [secretKey, oidcSecret, ...passwords, embedded()?.apiKey, ...keys, ...values, ...channels]
    secrets.replace(all.filter((secret) => typeof secret === 'string'))
  }
}

function listSecrets(channel: AlertChannel): string[] {
  switch (channel.kind) {
    case 'webhook':
      return [channel.url, channel.secret]
    case 'slack':
      return [channel.url]
    case 'email':
      return [channel.smtp, decodeURIComponent(new URL(channel.smtp).password)]
  }
}
