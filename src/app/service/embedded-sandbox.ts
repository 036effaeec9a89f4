import { join } from 'node:path'
import { UpshotError } from '../../core/errors.ts'
import { currentSecret, type Endpoint, SANDBOX_ENDPOINT } from '../../core/incoming/endpoint.ts'
import type { Publish } from '../../core/notices.ts'
import type { Config } from '../../project/config/load-config.ts'
import type { Sandbox } from '../../sandbox/index.ts'

/** Name of the app's API key in the sandbox. */
const KEY_NAME = SANDBOX_ENDPOINT

/** The sandbox in this process, and the key that the app calls it with. */
export interface EmbeddedSandbox {
  sandbox: Sandbox
  apiKey: string
}

/** Starts the sandbox with a read-write key for the app. */
export async function startEmbeddedSandbox(
  config: Pick<Config, 'dataDir' | 'ports'>,
  publish: Publish,
): Promise<EmbeddedSandbox> {
  // An app with the real service never loads it.
  const { startSandbox } = await import('../../sandbox/index.ts')
  const sandbox = await startSandbox({
    dir: join(config.dataDir, 'sandbox'),
    storagesDir: join(config.dataDir, 'storages'),
    port: config.ports.sandbox,
    downloadPort: config.ports.sandboxDownload,
    plan: 'enterprise',
    log: ({ msg }) => publish({ kind: 'sandbox.logged', message: msg }),
  }).catch((cause: unknown) => {
    throw nameSetting(cause)
  })
  return { sandbox, apiKey: await findOrMakeKey(sandbox) }
}

/** The sandbox knows that a port is taken, and not the settings of an app. */
function nameSetting(cause: unknown): unknown {
  if (!(cause instanceof UpshotError) || cause.code !== 'conflict') return cause
  const settings = 'UPSHOT_SANDBOX_PORT and UPSHOT_SANDBOX_DOWNLOAD_PORT'
  return new UpshotError('invalid_config', `The sandbox cannot start. ${cause.message} Its settings: ${settings}.`, {
    cause,
  })
}

/**
 * Gives the sandbox a webhook to `endpoint`; true when it had none. A known one is updated: the
 * receiver's address or the secret may have changed since the last start.
 */
export async function registerWebhook(sandbox: Sandbox, endpoint: Endpoint, receiverUrl: string): Promise<boolean> {
  const url = `${receiverUrl}/hooks/${endpoint.path}`
  const known = sandbox.webhooks.list().find((webhook) => webhook.url.endsWith(`/hooks/${endpoint.path}`))
  if (known) {
    if (known.url !== url) await sandbox.webhooks.move(known.id, url)
    const secret = currentSecret(endpoint)
    if (!known.secrets.includes(secret)) await sandbox.webhooks.edit(known.id, { secrets: [secret] })
    return false
  }
  await sandbox.webhooks.add({ url, events: ['*'], secret: currentSecret(endpoint) })
  return true
}

async function findOrMakeKey(sandbox: Sandbox): Promise<string> {
  const known = sandbox.keys.list().find((key) => key.name === KEY_NAME)
  const { key } = known ?? (await sandbox.keys.create({ name: KEY_NAME, scope: 'read-write' }))
  return key
}

/** Puts two files and transfers one: a newcomer sees runs of the samples complete. */
export async function makeSampleTransfer(sandbox: Sandbox): Promise<void> {
  await sandbox.storage('storage_a').put('/inbox/hello.txt', 'Hello from Upshot.\n')
  await sandbox.storage('storage_a').put('/inbox/figures.csv', 'month,files\n2026-01,120\n2026-02,134\n')
  await sandbox.transfers.start({ from: ['storage_a', '/inbox/figures.csv'], to: ['storage_b', '/inbox/'] })
}
