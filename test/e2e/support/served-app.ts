import { onTestFinished } from 'vitest'
import { App } from '../../../src/app/app.ts'
import type { AppUrls } from '../../../src/app/app-urls.ts'
import type { AppParts } from '../../../src/app/open-parts.ts'
import { ManualClock } from '../../../src/core/time.ts'
import type { Config } from '../../../src/project/config/load-config.ts'
import type { ServiceConfig } from '../../../src/project/config/variables.ts'
import { type Sandbox, type SandboxOptions, startSandbox } from '../../../src/sandbox/index.ts'
import { tempFolder } from '../../support/temp-folder.ts'
import { hearNotices } from '../../support/test-app.ts'
import { NO_SERVICE, testConfig, WEBHOOK_SECRET } from '../../support/test-config.ts'

type RealService = Extract<ServiceConfig, { kind: 'real' }>

/** Starts a service apart from the app, and returns the app's access. Its clock stands still. */
export async function startService(options: Partial<SandboxOptions> = {}) {
  const sandbox = await startSandbox({ dir: tempFolder(), plan: 'free', clock: 'manual', hints: false, ...options })
  onTestFinished(() => sandbox.stop())
  const makeKey = async (name = 'app') => sandbox.keys.create({ name, scope: 'read-write' })
  const { id, key } = await makeKey()
  const service: RealService = { ...NO_SERVICE, baseUrl: sandbox.url, apiKey: key }
  return { sandbox, service, keyId: id, makeKey }
}

/** Starts an app that works with that service, on a clock that moves with the service's. */
export async function startServedApp(
  { sandbox, service }: { sandbox: Sandbox; service: RealService },
  parts: Partial<AppParts>,
  { dataDir = tempFolder(), config = {} }: { dataDir?: string; config?: Partial<Config> } = {},
) {
  const clock = new ManualClock(sandbox.clock.now())
  const { notices, heard, hear } = hearNotices()
  const app = await App.create(testConfig(dataDir, { service, ...config }), {
    notices,
    clock,
    random: () => 0,
    ...parts,
  })
  onTestFinished(() => app.stop())
  const urls = await app.start()
  await registerWebhook(sandbox, urls)
  /** Moves the clocks of service and app together. */
  const advance = async (ms: number) => {
    // The service goes first, or it would see requests come too early.
    await sandbox.clock.advance(ms)
    clock.set(clock.now() + ms)
  }
  return { app, urls, clock, heard, hear, advance }
}

async function registerWebhook(sandbox: Sandbox, { endpoints }: AppUrls): Promise<void> {
  const url = endpoints.service ?? ''
  const known = sandbox.webhooks.list().find((webhook) => new URL(webhook.url).pathname === new URL(url).pathname)
  if (known) await sandbox.webhooks.move(known.id, url)
  else await sandbox.webhooks.add({ url, events: ['*'], secret: WEBHOOK_SECRET })
}
