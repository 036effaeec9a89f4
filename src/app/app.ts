import { AdminServer } from '../admin/admin-server.ts'
import { createHealth } from '../admin/health.ts'
import { isGated } from '../author/read-workflow.ts'
import type { AnyWorkflow } from '../author/workflow.ts'
import { describeError, UpshotError } from '../core/errors.ts'
import type { Route } from '../core/incoming/route.ts'
import type { Publish } from '../core/notices.ts'
import type { Store } from '../core/store/store.ts'
import { type Clock, systemClock } from '../core/time.ts'
import { Worker } from '../engine/worker.ts'
import { createNoticeBus, type NoticeBus } from '../notices/notice-bus.ts'
import type { Config } from '../project/config/load-config.ts'
import { ChangeWatch } from '../project/data-dir/change-watch.ts'
import { locateDatabase } from '../project/data-dir/open-store.ts'
import { removeRuntimeFile, writeRuntimeFile } from '../project/data-dir/runtime-file.ts'
import { ModuleWatch } from '../project/workflows/module-watch.ts'
import { WorkflowSet } from '../project/workflows/workflow-set.ts'
import { Receiver } from '../receive/receiver.ts'
import type { Sandbox } from '../sandbox/index.ts'
import { Pruner } from '../schedule/pruner.ts'
import { Scheduler } from '../schedule/scheduler.ts'
import type { SqliteStoreOptions } from '../store/sqlite/open-sqlite-store.ts'
import { openThreadedStore } from '../store/sqlite/thread/threaded-store.ts'
import { type Access, AccountClients } from './account-clients.ts'
import { type AppUrls, describeRuntime, describeUrls, listUrls } from './app-urls.ts'
import { type EmbeddedSandbox, makeSampleTransfer, startEmbeddedSandbox } from './embedded-sandbox.ts'
import { ensureEndpoint } from './ensure-endpoint.ts'

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

/**
 * Upshot in one process, or one of its parts where the configuration names a role. `start` and
 * `stop` may be called twice.
 */
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
  const does = planParts(config)
  const workflows = does.work ? await readWorkflows(config, parts.workflows, publish) : null
  const store = openStore(locateDatabase(config))

  const receiver = new Receiver({
    store,
    intake: { saveDelivery: (delivery) => worker.saveDelivery(delivery) },
    clock,
    publish,
    routes: () => readRoutes(store),
    limits: config.receive,
  })
  const scheduler = new Scheduler({ store, clock, publish, schedules: [] })
  const pruner = new Pruner({ store, clock, publish, retention: config.retention })
  const clients = new AccountClients({
    store,
    defaultAccess: () => accessTo(config, embedded),
    clock,
    random,
    publish,
  })
  const worker = new Worker({
    store,
    clock,
    random,
    publish,
    findWorkflow: (id) => workflows?.find(id),
    filesFor: (account, around) => clients.filesFor(account, around),
    spellingsOf: (account) => clients.spellingsOf(account),
    routes: () => readRoutes(store),
    slots: config.slots,
    admitsAhead: () => workflows?.some(isGated) ?? false,
    drainMs: config.drainMs,
  })
  const admin = new AdminServer(
    createHealth({
      migrated: async () => {
        if ((await store.checkWritable(clock.now())).isMigrated) return
        throw new Error('a newer Upshot has changed the database: start that one')
      },
      writable: async () => void (await store.checkWritable(clock.now())),
      app: async () => {
        if (state !== 'started') throw new Error(state)
      },
      ...(does.receive ? { endpoints: () => receiver.checkEndpoints() } : {}),
      ...(config.role === 'receiver' ? { workflows: async () => void (await readRoutes(store)) } : {}),
    }),
  )
  const report = (where: string) => (error: unknown) => publish({ kind: 'fault', where, error: describeError(error) })
  const changes = new ChangeWatch({
    store,
    clock,
    onChange() {
      worker.wake()
      worker.checkLeases().catch(report('looking for canceled runs'))
      if (does.schedule) followSchedules().catch(report('reading the schedules'))
    },
  })
  const modules =
    config.dev && workflows && !parts.workflows
      ? new ModuleWatch({ folder: config.workflowsDir, clock, onChange: reload })
      : null
  let state: 'new' | 'starting' | 'started' | 'stopping' = 'new'
  let embedded: EmbeddedSandbox | null = null
  let started: Promise<AppUrls> | null = null
  let stopped: Promise<void> | null = null

  notices.subscribe('run.queued', () => worker.wake())

  /**
   * Schedules come from the table, whoever loaded their modules; its routes are other ones after
   * each change.
   */
  let followed: readonly Route[] | null = null
  async function followSchedules(): Promise<void> {
    const routes = await store.listRoutes()
    if (routes === followed) return
    followed = routes
    const schedules = await store.listSchedules()
    scheduler.replace(schedules.map(({ workflow, trigger }) => ({ workflow, schedule: trigger })))
  }

  async function reload(version: string): Promise<void> {
    if (!workflows || !(await workflows.reload(version))) return
    await store.saveWorkflows(workflows.describe(), clock.now())
    if (does.schedule) await followSchedules()
    worker.wake()
  }

  async function startReceiver(): Promise<string> {
    const endpoint = await ensureEndpoint(store, config, clock.now())
    const receiverUrl = await receiver.start({ host: config.host, port: config.ports.receiver })
    if (config.service.kind === 'sandbox') {
      embedded = await startEmbeddedSandbox(config, { endpoint, receiverUrl, publish })
    }
    return receiverUrl
  }

  async function start(): Promise<AppUrls> {
    state = 'starting'
    if (workflows) await store.saveWorkflows(workflows.describe(), clock.now())
    const receiverUrl = does.receive ? await startReceiver() : ''
    if (does.work) await worker.start()
    if (does.schedule) {
      await followSchedules()
      scheduler.start()
      pruner.start()
    }
    changes.start()
    await modules?.start()
    const adminUrl = await admin.start(config.ports.admin)
    const urls = await describeUrls(store, { receiverUrl, adminUrl, embedded, publicUrl: config.publicUrl })
    if (does.receive) writeRuntimeFile(config.dataDir, describeRuntime(urls, embedded, clock.now()))
    // Told by the readiness check, and by the fault that the check publishes; deliveries are taken
    // in any case.
    if (does.receive) void receiver.checkEndpoints().catch(() => {})
    state = 'started'
    publish({ kind: 'app.started', urls: listUrls(urls) })
    if (embedded?.isNew) await makeSampleTransfer(embedded.sandbox)
    return urls
  }

  async function stop(reason: string): Promise<void> {
    state = 'stopping'
    publish({ kind: 'app.stopping', reason })
    // A start that is still under way is let finish: half an app is harder to stop than a whole
    // one.
    await started?.catch(() => {})
    if (does.receive) removeRuntimeFile(config.dataDir)
    await Promise.all([modules?.stop(), changes.stop(), pruner.stop()])
    await Promise.all([receiver.stop(), scheduler.stop(), worker.stop()])
    // Until here it said that we are stopping: whoever balances load is to know.
    await admin.stop()
    await clients.stop()
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
      if (isCanceled) worker.endPass(runId)
      // Whoever waited for its place is let in now.
      if (isCanceled) worker.wake()
      return isCanceled
    },
  }
}

/**
 * Which parts of the app a process runs. The sandbox is part of the whole app only: it calls the
 * receiver, and workers call it.
 */
function planParts({ role, service }: Config): { receive: boolean; work: boolean; schedule: boolean } {
  if (role !== 'all' && service.kind === 'sandbox') {
    throw new UpshotError(
      'invalid_config',
      `A process with the role "${role}" cannot bring the sandbox with it. Name the service with SERVICE_BASE_URL and the variables beside it, or leave the role out.`,
    )
  }
  const has = (part: Config['role']) => role === 'all' || role === part
  return { receive: has('receiver'), work: has('worker'), schedule: has('scheduler') }
}

async function readWorkflows(
  { workflowsDir }: Config,
  given: readonly AnyWorkflow[] | undefined,
  publish: Publish,
): Promise<WorkflowSet> {
  return given ? WorkflowSet.of(given, publish) : WorkflowSet.load(workflowsDir, publish)
}

/**
 * Without routes, an event would be stored and never followed up; its sender keeps it until there
 * are some.
 */
async function readRoutes(store: Store): Promise<readonly Route[]> {
  const routes = await store.listRoutes()
  if (routes) return routes
  throw new UpshotError('not_running', 'No process has loaded the workflows yet. Start one with the role worker.')
}

/** The default account: the service as the environment describes it, or the sandbox. */
function accessTo({ service }: Config, embedded: EmbeddedSandbox | null): Access {
  if (service.kind === 'real') return service
  return { ...requireSandbox(embedded), fallbackKey: null, storages: {}, plan: 'enterprise' }
}

function requireSandbox(embedded: EmbeddedSandbox | null): { baseUrl: string; apiKey: string } {
  const { sandbox, apiKey } = requireStarted(embedded)
  return { baseUrl: sandbox.url, apiKey }
}

function requireStarted<T>(part: T | null): T {
  if (part === null) throw new UpshotError('not_running', 'The app has not started.')
  return part
}
