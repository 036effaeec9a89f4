import { stat, statfs } from 'node:fs/promises'
import type { DoctorFinding, Foreseen, Surroundings } from '../../admin/ports/surroundings.ts'
import { UpshotError } from '../../core/errors.ts'
import { currentSecret, type Endpoint, SANDBOX_ENDPOINT, SERVICE_ENDPOINT } from '../../core/incoming/endpoint.ts'
import type { Publish } from '../../core/notices.ts'
import { STORAGES } from '../../core/service/storage.ts'
import type { Store } from '../../core/store/store.ts'
import type { Clock } from '../../core/time.ts'
import type { Priority } from '../../files/index.ts'
import { listSettings } from '../../project/config/explain-config.ts'
import type { Config } from '../../project/config/load-config.ts'
import { databaseFile } from '../../project/data-dir/data-files.ts'
import { readRuntimeFile } from '../../project/data-dir/runtime-file.ts'
import { nextMomentOf } from '../../schedule/next-moment.ts'
import { sendEvent, tryEndpoint } from '../deliver.ts'
import { describeAlerts, testAlert } from '../health/open-alerts.ts'
import { runCommand } from '../preview/child/run-command.ts'
import { askSandbox } from '../service/ask-sandbox.ts'
import type { EmbeddedSandbox } from '../service/embedded-sandbox.ts'
import { listBlockedKeys } from '../service/list-blocked-keys.ts'
import { openDatabasePort } from './open-database-port.ts'
import { openFilesPort } from './open-files-port.ts'
import { readSource } from './read-source.ts'

interface SurroundingsParts {
  store: Store
  clock: Clock
  publish: Publish
  embedded: () => EmbeddedSandbox | null
  /** Order of calls of the service that people ask for. Default `background`. */
  priority?: Priority
  probeKey: Uint8Array
}

/** Everything outside the store that the admin API needs. */
export function openSurroundings(
  config: Config,
  { store, clock, publish, embedded, probeKey, priority }: SurroundingsParts,
): Surroundings {
  const target = (endpoint: Endpoint, signal: AbortSignal) => ({
    endpoint,
    receiver: requireReceiver(config),
    now: clock.now(),
    signal,
  })
  const findSandbox = () => originOf(config, embedded)
  return {
    receiverUrl: async () => config.publicUrl ?? findReceiver(config) ?? nameReceiver(config),
    sendEvent: async (event, endpoint, signal) => sendEvent(event, target(endpoint, signal)),
    async matchEvent(event) {
      const { matchWorkflows } = await import('../preview/match-workflows.ts')
      return matchWorkflows(store, config, { event, now: clock.now() })
    },
    async tryEndpoint(endpoint, isPublic, signal) {
      const near = target(endpoint, signal)
      const receiver = isPublic ? requirePublicUrl(config) : near.receiver
      return tryEndpoint(store, { ...near, receiver, probeKey })
    },
    keeperOf: (endpoint) => keeperOf(endpoint, config),
    isHeaderKept: (endpoint) =>
      keeperOf(endpoint, config) === 'environment' &&
      config.service.kind === 'real' &&
      config.service.signatureHeader !== null,
    endpointChanged: (endpoint) =>
      updateSandbox(keeperOf(endpoint, config) === 'sandbox' ? findSandbox() : null, endpoint),
    files: openFilesPort(config, { store, clock, publish, embedded, ...(priority && { priority }) }),
    sandboxUrl: () => findSandbox() && `${findSandbox()}/account`,
    // Code is previewed in the process of the command, so no thread of the app waits.
    async foresee(approval, signal) {
      const bounds = { signal, withinMs: 120_000, mostBytes: 134_217_728 }
      const args = ['approvals', 'show', approval, '--ahead']
      return (await runCommand<{ foreseen: Foreseen }>(config, args, bounds)).foreseen
    },
    async examine(signal) {
      const bounds = { signal, withinMs: 60_000, mostBytes: 1_000_000 }
      return (await runCommand<{ findings: DoctorFinding[] }>(config, ['doctor'], bounds)).findings
    },
    readSource: (frames) => readSource(config.workflowsDir, frames),
    settings: () => listSettings(config),
    ...openDatabasePort(config, clock),
    retention: () => config.retention,
    async foreseePrune() {
      const { foreseePrune } = await import('../../schedule/pruner.ts')
      return foreseePrune({ store, clock, retention: config.retention })
    },
    async prune(onPruned) {
      const { pruneStore } = await import('../../schedule/pruner.ts')
      return pruneStore({ store, clock, retention: config.retention, onPruned })
    },
    async takeAnchor(isDryRun) {
      const { takeAnchor } = await import('../../project/data-dir/anchor-file.ts')
      return takeAnchor(store, clock, { ...config, isDryRun })
    },
    guard: () => config.guardPolicy.limits,
    alerts: () => describeAlerts(config),
    async testAlert(rule, signal) {
      const sendings = await testAlert(config, rule, { clock, signal })
      return sendings.map(({ channel, error }) => ({ channel, error: error?.message ?? null }))
    },
    readDisk: () => readDisk(config),
    blockedKeys: (now) => listBlockedKeys(store, config, now),
    defaultAccount: () => describeDefaultAccount(config, embedded()?.sandbox.url ?? readSandbox(config)),
    nextTicks(plan, after, count) {
      const next = nextMomentOf(plan)
      const moments: number[] = []
      for (let moment = next(after); moment !== null && moments.length < count; moment = next(moment)) {
        moments.push(moment)
      }
      return moments
    },
  }
}

/** Gives the sandbox the endpoint's current secret and scheme, where it has a webhook for it. */
async function updateSandbox(origin: string | null, endpoint: Endpoint): Promise<void> {
  if (origin === null) return
  const webhooks = (await askSandbox(origin, { method: 'GET', path: '/webhooks' })) as { id: string; url: string }[]
  const webhook = webhooks.find(({ url }) => url.endsWith(`/hooks/${endpoint.path}`))
  if (!webhook) return
  const body = JSON.stringify({ secrets: [currentSecret(endpoint)], scheme: endpoint.scheme })
  await askSandbox(origin, { method: 'PATCH', path: `/webhooks/${webhook.id}`, body })
}

async function readDisk(config: Pick<Config, 'dataDir'>) {
  const file = databaseFile(config)
  const sizeOf = (path: string) =>
    stat(path).then(
      ({ size }) => size,
      () => 0,
    )
  const { bavail, bsize } = await statfs(config.dataDir)
  return { databaseBytes: await sizeOf(file), logBytes: await sizeOf(`${file}-wal`), diskFreeBytes: bavail * bsize }
}

/** The receiver of this process or of another one on the same data directory. */
function findReceiver({ dataDir }: Pick<Config, 'dataDir'>): string | null {
  const runtime = readRuntimeFile(dataDir)
  return runtime === null || runtime.receiver === '' ? null : runtime.receiver
}

/** Where a receiver will listen; null while it takes any free port. */
function nameReceiver({ host, ports }: Pick<Config, 'host' | 'ports'>): string | null {
  return ports.receiver === 0 ? null : `http://${host.includes(':') ? `[${host}]` : host}:${ports.receiver}`
}

function requireReceiver(config: Pick<Config, 'dataDir'>): string {
  const receiver = findReceiver(config)
  if (receiver !== null) return receiver
  throw new UpshotError('not_running', 'No process with the role receiver is running on this data directory.')
}

function requirePublicUrl({ publicUrl }: Pick<Config, 'publicUrl'>): string {
  if (publicUrl !== null) return publicUrl
  throw new UpshotError('invalid_config', 'No public URL is configured.', {
    details: { fix: 'Set UPSHOT_PUBLIC_URL, or publicUrl in config/upshot.config.ts.' },
  })
}

function keeperOf({ name }: Pick<Endpoint, 'name'>, { service }: Pick<Config, 'service'>) {
  if (name === SERVICE_ENDPOINT && service.kind === 'real') return 'environment'
  return name === SANDBOX_ENDPOINT && service.kind === 'sandbox' ? 'sandbox' : null
}

/** The sandbox of another process on the same data directory. */
function readSandbox({ dataDir }: Pick<Config, 'dataDir'>): string | null {
  return readRuntimeFile(dataDir)?.sandbox?.baseUrl ?? null
}

function describeDefaultAccount({ service }: Pick<Config, 'service'>, sandbox: string | null) {
  if (service.kind === 'real') {
    const { baseUrl, plan, storages } = service
    return { baseUrl, plan, storages, keeper: 'environment' as const }
  }
  const [storage_a, storage_b, storage_c] = STORAGES
  const storages = { storage_a, storage_b, storage_c }
  return { baseUrl: sandbox, plan: 'enterprise' as const, storages, keeper: 'sandbox' as const }
}

/** The sandbox of this process, or of another one on the same data directory. */
function originOf(
  { service, dataDir }: Pick<Config, 'service' | 'dataDir'>,
  embedded: () => EmbeddedSandbox | null,
): string | null {
  if (service.kind === 'real') return null
  return embedded()?.sandbox.origin ?? readRuntimeFile(dataDir)?.sandbox?.origin ?? null
}
