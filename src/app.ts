import { dirname } from 'node:path'
import { createHealth } from './admin/health.ts'
import { AdminServer } from './admin/server.ts'
import type { Config } from './config.ts'
import type { DeliveryReceipt, IncomingDelivery } from './core/delivery.ts'
import { describeError, UpshotError } from './core/errors.ts'
import type { Route } from './core/route.ts'
import type { Store } from './core/store.ts'
import { type Clock, isoTime, systemClock } from './core/time.ts'
import { type AnyWorkflow, planRoutes, scheduleOf } from './core/workflow.ts'
import { type EmbeddedSandbox, makeSampleTransfer, startEmbeddedSandbox } from './embedded-sandbox.ts'
import { loadWorkflows } from './engine/load-workflows.ts'
import { Worker } from './engine/worker.ts'
import { createFilesClient, type FilesClient } from './files/index.ts'
import { locateDatabase } from './locate-database.ts'
import { createNoticeBus, type NoticeBus } from './notices/notice-bus.ts'
import { ensureEndpoint } from './own-endpoint.ts'
import { Receiver } from './receive/server.ts'
import { removeRuntimeFile, writeRuntimeFile } from './runtime-file.ts'
import type { Sandbox } from './sandbox/index.ts'
import { parseCronLine } from './schedule/cron-line.ts'
import { Scheduler } from './schedule/scheduler.ts'
import type { SqliteStoreOptions } from './store/sqlite/open-store.ts'
import { openThreadedStore } from './store/sqlite/threaded-store.ts'

/** What a test or a program puts in the place of the real parts. */
export interface AppParts {
  clock: Clock
  random: () => number
  notices: NoticeBus
  /** In place of the store with its writer thread. */
  openStore: (options: SqliteStoreOptions) => Store
  /** In place of the modules in the workflows folder. */
  workflows: readonly AnyWorkflow[]
}

export interface AppUrls {
  receiver: string
  admin: string
  /** Full addresses that deliveries are sent to, by the endpoint's name. */
  endpoints: Record<string, string>
  /** The sandbox's account page, and the folder of its storages, when the sandbox runs in this process. */
  sandbox?: string
  storages?: string
}

/** The whole of Upshot in one process. `start` and `stop` may be called twice. */
export interface App {
  start(): Promise<AppUrls>
  /** Resolves when everything in flight is finished or parked, and nothing more will be written. */
  stop(reason?: string): Promise<void>
  readonly store: Store
  readonly notices: NoticeBus
  /** Null before the start, and where the app works with the real service. */
  readonly sandbox: Sandbox | null
  cancelRun(runId: string, reason: string): Promise<boolean>
}

/** Wires the parts together; the only place that knows more than one of them. */
export async function createApp(config: Config, parts: Partial<AppParts> = {}): Promise<App> {
  const { clock = systemClock, random = Math.random, notices = createNoticeBus() } = parts
  const { openStore = openThreadedStore } = parts
  const { publish } = notices
  const workflows = await readWorkflows(config, parts.workflows, notices)
  const store = openStore(locateDatabase(config))

  const routes: readonly Route[] = [...workflows.values()].flatMap(planRoutes)
  const schedules = [...workflows.values()].flatMap((workflow) => {
    const schedule = scheduleOf(workflow)
    return schedule ? [{ workflow: workflow.id, schedule }] : []
  })
  const receiver = new Receiver({
    store: { ...store, saveDelivery },
    clock,
    publish,
    routes: () => routes,
    limits: config.receive,
  })
  const scheduler = new Scheduler({ store, clock, publish, schedules })
  const worker = new Worker({
    store,
    clock,
    random,
    publish,
    findWorkflow: (id) => workflows.get(id),
    filesFor: (_account, around) => requireStarted(files).within(around),
    slots: config.slots,
    drainMs: config.drainMs,
  })
  const admin = new AdminServer(
    createHealth({
      migrated: async () => {
        if ((await store.probe(clock.now())).isMigrated) return
        throw new Error('a newer Upshot has changed the database: start that one')
      },
      writable: async () => void (await store.probe(clock.now())),
      endpoints: () => receiver.checkEndpoints(),
      app: async () => {
        if (state !== 'started') throw new Error(state)
      },
    }),
  )
  /** The claim follows the delivery into the same commit, instead of waiting for it and taking one of its own. */
  function saveDelivery(delivery: IncomingDelivery): Promise<DeliveryReceipt> {
    const saved = store.saveDelivery(delivery)
    if (delivery.workflows.length > 0) worker.wake()
    return saved
  }
  let state: 'new' | 'starting' | 'started' | 'stopping' = 'new'
  let embedded: EmbeddedSandbox | null = null
  let files: FilesClient | null = null
  let started: Promise<AppUrls> | null = null
  let stopped: Promise<void> | null = null

  notices.subscribe('run.queued', () => worker.wake())

  async function start(): Promise<AppUrls> {
    state = 'starting'
    const endpoint = await ensureEndpoint(store, config, clock.now())
    const receiverUrl = await receiver.start({ host: config.host, port: config.ports.receiver })
    if (config.service.kind === 'sandbox') {
      embedded = await startEmbeddedSandbox(config, { endpoint, receiverUrl, publish })
    }
    files = createClient(config, embedded, notices)
    await worker.start()
    scheduler.start()
    const adminUrl = await admin.start(config.ports.admin)
    const urls = await describeUrls(store, { receiverUrl, adminUrl, embedded, publicUrl: config.publicUrl })
    writeRuntimeFile(config.dataDir, {
      pid: process.pid,
      startedAt: isoTime(clock.now()),
      receiver: receiverUrl,
      admin: adminUrl,
      sandbox: embedded && {
        baseUrl: embedded.sandbox.url,
        origin: embedded.sandbox.origin,
        apiKey: embedded.apiKey,
      },
    })
    // Told by the readiness check, and by the fault that the check publishes; deliveries are taken in any case.
    void receiver.checkEndpoints().catch(() => {})
    state = 'started'
    publish({ kind: 'app.started', urls: listUrls(urls) })
    if (embedded?.isNew) await makeSampleTransfer(embedded.sandbox)
    return urls
  }

  async function stop(reason: string): Promise<void> {
    state = 'stopping'
    publish({ kind: 'app.stopping', reason })
    // A start that is still under way is let finish: half an app is harder to stop than a whole one.
    await started?.catch(() => {})
    removeRuntimeFile(config.dataDir)
    await Promise.all([receiver.stop(), scheduler.stop(), worker.stop()])
    // Until here it said that we are stopping: whoever balances load is to know.
    await admin.stop()
    await files?.stop()
    await embedded?.sandbox.stop()
    await store.close()
    publish({ kind: 'app.stopped' })
  }

  return {
    start: () => (started ??= start()),
    stop: (reason = 'asked to') => (stopped ??= stop(reason)),
    store,
    notices,
    get sandbox() {
      return embedded?.sandbox ?? null
    },
    async cancelRun(runId, reason) {
      const isCanceled = await store.cancelRun(runId, reason, clock.now())
      if (isCanceled) worker.abandon(runId)
      return isCanceled
    },
  }
}

async function readWorkflows(
  config: Config,
  given: readonly AnyWorkflow[] | undefined,
  { publish }: NoticeBus,
): Promise<Map<string, AnyWorkflow>> {
  if (given) return new Map(given.map((workflow) => [workflow.id, workflow]))
  const modules = await loadWorkflows(config.workflowsDir)
  const workflows = new Map<string, AnyWorkflow>()
  for (const module of modules) {
    const { file } = module
    const error = module.kind === 'broken' ? module.error : findScheduleFault(module.workflow)
    if (module.kind === 'broken' || error !== null) {
      publish({ kind: 'workflow.broken', file, error: describeError(error) })
      continue
    }
    const { workflow } = module
    workflows.set(workflow.id, workflow)
    publish({ kind: 'workflow.loaded', workflow: workflow.id, file, on: describeTrigger(workflow) })
  }
  return workflows
}

/** A cron line that cannot be read takes its own workflow down, not the scheduler. */
function findScheduleFault(workflow: AnyWorkflow): unknown {
  const schedule = scheduleOf(workflow)
  if (schedule === null) return null
  try {
    parseCronLine(schedule.expression, schedule.timezone)
    return null
  } catch (error) {
    return error
  }
}

function describeTrigger(workflow: AnyWorkflow): string {
  const schedule = scheduleOf(workflow)
  if (schedule) return `cron ${schedule.expression} (${schedule.timezone})`
  return planRoutes(workflow)
    .map((route) => route.eventType)
    .join(', ')
}

function createClient(config: Config, embedded: EmbeddedSandbox | null, { publish }: NoticeBus): FilesClient {
  const { service } = config
  const access =
    service.kind === 'real'
      ? { baseUrl: service.baseUrl, apiKey: service.apiKey, services: service.storages, plan: service.plan }
      : ({ ...requireSandbox(embedded), plan: 'enterprise' } as const)
  return createFilesClient({
    ...access,
    log(line) {
      if (line.kind === 'call') {
        const { operation, service: storage, id = null, status, outcome, attempts, ms } = line
        publish({ kind: 'files.called', operation, service: storage, id, status, outcome, attempts, ms })
      }
      if (line.kind === 'warning') {
        publish({ kind: 'files.warned', service: line.service ?? null, message: line.message })
      }
    },
  })
}

function requireSandbox(embedded: EmbeddedSandbox | null): { baseUrl: string; apiKey: string } {
  const { sandbox, apiKey } = requireStarted(embedded)
  return { baseUrl: sandbox.url, apiKey }
}

function requireStarted<T>(part: T | null): T {
  if (part === null) throw new UpshotError('not_running', 'The app has not started.')
  return part
}

async function describeUrls(
  store: Store,
  at: { receiverUrl: string; adminUrl: string; embedded: EmbeddedSandbox | null; publicUrl: string | null },
): Promise<AppUrls> {
  const endpoints = (await store.listEndpoints()).map((endpoint) => [
    endpoint.name,
    `${at.publicUrl ?? at.receiverUrl}/hooks/${endpoint.path}`,
  ])
  return {
    receiver: at.receiverUrl,
    admin: at.adminUrl,
    endpoints: Object.fromEntries(endpoints),
    ...(at.embedded
      ? { sandbox: at.embedded.sandbox.origin, storages: dirname(at.embedded.sandbox.storage('storage_a').dir) }
      : {}),
  }
}

function listUrls({ receiver, admin, endpoints, sandbox, storages }: AppUrls): Record<string, string> {
  return {
    receiver,
    ...Object.fromEntries(Object.entries(endpoints).map(([name, url]) => [`endpoint ${name}`, url])),
    admin,
    ...(sandbox === undefined ? {} : { sandbox }),
    ...(storages === undefined ? {} : { storages }),
  }
}
