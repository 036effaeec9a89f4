import { AdminServer } from '../admin/admin-server.ts'
import { createHealth } from '../admin/health.ts'
import { isGated } from '../author/read-workflow.ts'
import type { AnyWorkflow } from '../author/workflow.ts'
import { CommitCounts } from '../core/commit-counts.ts'
import { UpshotError } from '../core/errors.ts'
import type { Route } from '../core/incoming/route.ts'
import type { Store } from '../core/store/store.ts'
import type { Clock } from '../core/time.ts'
import { Worker } from '../engine/worker.ts'
import type { KnownSecrets } from '../notices/log/known-secrets.ts'
import type { NoticeBus } from '../notices/notice-bus.ts'
import type { Config } from '../project/config/load-config.ts'
import { storeOptions } from '../project/data-dir/open-store.ts'
import { ModuleWatch } from '../project/workflows/module-watch.ts'
import type { WorkflowSet } from '../project/workflows/workflow-set.ts'
import { Receiver } from '../receive/receiver.ts'
import { HourCounter } from '../schedule/hour-counter.ts'
import { Pruner } from '../schedule/pruner.ts'
import { Scheduler } from '../schedule/scheduler.ts'
import { isLogMissing } from '../store/sqlite/database/open-mark.ts'
import type { SqliteStoreOptions } from '../store/sqlite/open-sqlite-store.ts'
import { runInSpan } from '../watch/traces/run-in-span.ts'
import type { Tracing } from '../watch/traces/tracing.ts'
import { type Access, AccountClients } from './account-clients.ts'
import { openConsole } from './console/open-console.ts'
import { ProcessBeat } from './console/process-beat.ts'
import type { EmbeddedSandbox } from './embedded-sandbox.ts'
import { openMetrics } from './open-metrics.ts'
import { readinessChecks } from './readiness.ts'
import type { RolePlan } from './role.ts'

/** Parts that a test or a program may replace. */
export interface AppParts {
  clock: Clock
  random: () => number
  notices: NoticeBus
  /** Told every secret of the app, so that its log never shows one. */
  secrets: KnownSecrets
  /** Default: the store with its writer thread. */
  openStore: (options: SqliteStoreOptions) => Store
  /** Default: the modules in the workflows folder. */
  workflows: readonly AnyWorkflow[]
}

/** The app as its parts see it. */
export interface AppHooks {
  phase(): 'new' | 'starting' | 'started' | 'stopping'
  /** Null before the sandbox has started, and where the app works with the real service. */
  embedded(): EmbeddedSandbox | null
  /** The source of the workflows has changed. */
  onSourceChange(version: string): Promise<void>
}

interface Wiring extends Omit<AppParts, 'workflows' | 'secrets'> {
  plan: RolePlan
  /** Null in a process without a worker. */
  workflows: WorkflowSet | null
  /** Whether changed modules are loaded again. */
  isWatching: boolean
  /** `hashFolder` from before the modules were loaded; null where nobody watches. */
  sourceHash: string | null
  hooks: AppHooks
  /** Null where no collector is set. */
  tracing: Tracing | null
}

export type OpenParts = ReturnType<typeof openParts>

/** Opens the store and makes every part on it; none of them has started. */
export function openParts(config: Config, wiring: Wiring) {
  const { clock, random, notices, openStore, plan, workflows, isWatching, sourceHash, hooks, tracing } = wiring
  const { publish } = notices
  const commits = CommitCounts.allocate()
  const options = { ...storeOptions(config), commits }
  if (isLogMissing(options.file)) publish({ kind: 'store.log_missing', file: options.file })
  const store = openStore(options)
  const routes = () => readRoutes(store)
  const defaultAccess = () => accessTo(config, hooks.embedded())
  const clients = new AccountClients({ store, defaultAccess, clock, random, publish, tracing })
  const worker = new Worker({
    store,
    clock,
    random,
    publish,
    findWorkflow: (id) => workflows?.find(id),
    filesFor: (account, wrap) => clients.filesFor(account, wrap),
    spellingsOf: (account) => clients.spellingsOf(account),
    routes,
    guard: config.guardPolicy,
    runInSpan,
    slots: config.slots,
    admitsAhead: () => workflows?.some(isGated) ?? false,
    drainMs: config.drainMs,
  })
  const receiver = new Receiver({
    store,
    intake: { saveDelivery: (delivery) => worker.saveDelivery(delivery) },
    clock,
    publish,
    routes,
    limits: config.receive,
  })
  const checks = readinessChecks({
    role: config.role,
    store,
    clock,
    phase: hooks.phase,
    readRoutes: routes,
    checkEndpoints: plan.receive ? () => receiver.checkEndpoints() : null,
  })
  const health = createHealth(checks)
  const metrics = openMetrics(config, {
    ...{ store, clock, notices, plan, health, commits },
    slots: plan.work ? () => ({ total: config.slots, busy: worker.atWork.length }) : null,
    intake: plan.receive ? () => receiver.load : null,
    fileLimits: () => clients.limits,
    spansDropped: () => tracing?.dropped ?? 0,
  })
  notices.subscribe('run.queued', () => worker.wake())
  return {
    store,
    worker,
    receiver,
    clients,
    scheduler: new Scheduler({ store, clock, publish, schedules: [] }),
    hours: new HourCounter({ store, clock, publish }),
    beat: new ProcessBeat({ store, clock }),
    pruner: new Pruner({ store, clock, publish, retention: config.retention }),
    admin: new AdminServer(health, {
      host: config.admin.host,
      routes: openConsole(config, { store, clock, notices, health, embedded: hooks.embedded, metrics }),
    }),
    modules: isWatching
      ? new ModuleWatch({ folder: config.workflowsDir, clock, onChange: hooks.onSourceChange, before: sourceHash })
      : null,
  }
}

/**
 * Throws `not_running` while there are no routes: an event stored without them would start no run.
 * Its sender gets a 503 and tries again.
 */
async function readRoutes(store: Store): Promise<readonly Route[]> {
  const routes = await store.listRoutes()
  if (routes) return routes
  throw new UpshotError('not_running', 'No process has loaded the workflows yet. Start one with the role worker.')
}

/** Access to the default account: the service that the environment names, or the sandbox. */
function accessTo({ service }: Config, embedded: EmbeddedSandbox | null): Access {
  if (service.kind === 'real') return service
  if (embedded === null) throw new UpshotError('not_running', 'The app has not started.')
  const { sandbox, apiKey } = embedded
  return { baseUrl: sandbox.url, apiKey, fallbackKey: null, storages: {}, plan: 'enterprise' }
}
