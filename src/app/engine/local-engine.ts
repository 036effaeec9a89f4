import { declaredKeys } from '../../author/event-keys.ts'
import { isGated } from '../../author/read-workflow.ts'
import type { AnyWorkflow } from '../../author/workflow.ts'
import { describeError, UpshotError } from '../../core/errors.ts'
import type { DeliveryReceipt, IncomingDelivery } from '../../core/incoming/delivery.ts'
import { callbackUrl } from '../../core/incoming/hook.ts'
import type { BrokenModule, LoadedWorkflows } from '../../core/runs/workflow-record.ts'
import { carryOutAll } from '../../core/store/as-operator.ts'
import type { Store, StoreWatch } from '../../core/store/store.ts'
import type { Clock } from '../../core/time.ts'
import type { Arrivals } from '../../engine/claim/claim-on-arrival.ts'
import type { WorkerCounts } from '../../engine/claim/worker-counts.ts'
import type { Outside } from '../../engine/pass/outside/outside.ts'
import { loadWatched } from '../../engine/pass/outside/watch-effects.ts'
import { FileWatch, findMadeUp } from '../../engine/reconcile/make-up-events.ts'
import { Worker } from '../../engine/worker.ts'
import type { WorkerParts } from '../../engine/worker-parts.ts'
import type { NoticeBus } from '../../notices/notice-bus.ts'
import type { LoadOptions } from '../../project/workflows/load-workflows.ts'
import { hashFolder, ModuleWatch } from '../../project/workflows/module-watch.ts'
import { WorkflowSet } from '../../project/workflows/workflow-set.ts'
import { nextMomentOf } from '../../schedule/next-moment.ts'
import { runInSpan } from '../../watch/traces/run-in-span.ts'
import { Tracing } from '../../watch/traces/tracing.ts'
import { AccountClients } from '../service/account-clients.ts'
import { closeOutside, openOutside } from '../service/open-outside.ts'
import { DefinitionWatch } from './definition-watch.ts'
import type { Engine, EngineAccess, EngineLoad } from './engine.ts'
import type { HandedConfig } from './engine-config.ts'
import { readRoutes } from './read-routes.ts'
import { RunPlanner } from './run-planner.ts'

export interface LocalEngineParts {
  config: HandedConfig
  store: Store
  clock: Clock
  random: () => number
  notices: NoticeBus
  /** Default: the modules in the workflows folder. */
  workflows?: readonly AnyWorkflow[]
  /** Default: a new worker, beside which no other thread saves deliveries. */
  worker?: { id: string; counts: WorkerCounts }
  /** Modules to leave out, and who hears of the one that is loaded. */
  modules?: LoadOptions
  /** Given the hash of each workflow's code, by id, before its runs may be claimed. */
  onLoaded?: (codeHashes: Record<string, string>, broken: readonly BrokenModule[]) => void
}

/** A part without which an app breaks a promise: here none may be left out. */
type EngineWorkerParts = WorkerParts &
  Required<Omit<WorkerParts, 'beatMs' | 'findMadeUp' | 'pollMs' | 'gatherMs' | 'passCache' | 'stillMs'>>

export class LocalEngine implements Engine {
  readonly #parts: LocalEngineParts
  readonly #workflows: WorkflowSet
  readonly #worker: Worker
  readonly #outside: Outside
  readonly #clients: AccountClients
  readonly #modules: ModuleWatch | null
  readonly #definitions: DefinitionWatch
  readonly #files: FileWatch | null
  readonly #planner: RunPlanner
  #access: EngineAccess | null = null
  #watch: StoreWatch | null = null

  /**
   * Loads the workflows. Throws `invalid_config` for an empty folder where the database knows
   * workflows.
   */
  static async load(parts: LocalEngineParts): Promise<LocalEngine> {
    const { workflows, config, notices } = parts
    const sourceHash = config.dev ? await hashFolder(config.workflowsDir) : null
    const outside = openOutside(parts)
    const options = { ...parts.modules, isWatched: config.dev }
    const set = workflows
      ? WorkflowSet.of(workflows, notices.publish)
      : await loadWatched(outside, () => WorkflowSet.load(config.workflowsDir, notices.publish, options))
    await refuseEmptyFolder(parts, set)
    if (workflows && config.effects === 'plan') throw describeGivenWorkflows()
    return new LocalEngine(parts, { set, sourceHash, outside })
  }

  private constructor(
    parts: LocalEngineParts,
    { set: workflows, sourceHash, outside }: { set: WorkflowSet; sourceHash: string | null; outside: Outside },
  ) {
    const { config, store, clock, random, notices } = parts
    const { publish } = notices
    this.#parts = parts
    this.#workflows = workflows
    this.#outside = outside
    outside.isServiceHost = (host) => this.#clients.isServiceHost(host)
    // Only for the headers of calls: the main thread sends the spans.
    const queue = { add: () => {}, stop: async () => {}, dropped: 0 }
    const tracing = config.traces ? new Tracing({ queue, now: () => clock.now(), ratio: config.traces.ratio }) : null
    const defaultAccess = () => this.#requireAccess()
    const calls = { store, defaultAccess, burst: config.files.burst, clock, random, publish, tracing }
    this.#clients = new AccountClients({ ...calls, priority: 'workflow' })
    const reads = new AccountClients({ ...calls, priority: 'background' })
    this.#planner = new RunPlanner({ config, store, clock, clients: reads })
    const functions = () => declaredKeys.files()
    const spellingsOf = (account: string) => this.#clients.spellingsOf(account)
    const routes = () => readRoutes(store)
    const isReconciling = config.reconcile.length > 0
    this.#files = isReconciling ? new FileWatch({ store, clock, publish, functions, spellingsOf, routes }) : null
    this.#worker = new Worker(
      {
        store,
        clock,
        random,
        publish,
        findWorkflow: (id) => workflows.find(id),
        filesFor: (account, wrap) => this.#clients.filesFor(account, wrap),
        spellingsOf,
        routes,
        ...(isReconciling ? { findMadeUp: (event) => findMadeUp(event, { store, functions, spellingsOf }) } : {}),
        guard: config.guardPolicy,
        maxSteps: config.limits.steps,
        planner: this.#planner,
        checkPlan: nextMomentOf,
        callbackUrl: (id) => this.#access?.callbacks && callbackUrl(this.#access.callbacks, id),
        runInSpan,
        slots: config.slots,
        admitsAhead: () => workflows.some(isGated),
        suspects: config.suspects,
        aloneMs: config.aloneMs,
        isOrphan: () => config.parent !== null && process.ppid !== config.parent,
        ...(config.beatMs === undefined ? {} : { beatMs: config.beatMs }),
        drainMs: config.drainMs,
        reportsTimers: config.dev,
        outside,
      } satisfies EngineWorkerParts,
      parts.worker,
    )
    this.#definitions = new DefinitionWatch({ store, clock, publish, loaded: () => this.#loaded })
    const isWatching = config.dev && parts.workflows === undefined
    const folder = config.workflowsDir
    const onChange = (version: string) => this.#reload(version)
    const onFault = (error: unknown) =>
      notices.publish({ kind: 'fault', where: 'loading changed modules', error: describeError(error) })
    this.#modules = isWatching ? new ModuleWatch({ folder, clock, onChange, onFault, before: sourceHash }) : null
    notices.subscribe('run.queued', () => this.wake())
  }

  async start(access: EngineAccess): Promise<void> {
    const { store, clock } = this.#parts
    this.#access = access
    await this.#clients.lookAtHosts()
    await this.#planner.start()
    // No run begins before this start is answered: its code may hold the thread.
    await this.#worker.start(async () => {
      await this.#saveWorkflows()
      this.#watch = store.watch(clock, () => this.#onStoreChange())
      await this.#modules?.start()
    })
    this.#definitions.start()
    // A quarantine only tries suspects.
    if (this.#parts.config.suspects !== 'only') this.#files?.start()
  }

  saveDelivery(delivery: IncomingDelivery): Promise<DeliveryReceipt> {
    return this.#worker.saveDelivery(delivery)
  }

  get load(): EngineLoad {
    return { busy: this.#worker.atWork.length, fileLimits: this.#clients.limits, memory: null }
  }

  get broken(): readonly BrokenModule[] {
    return this.#workflows.broken
  }

  /** Begins runs that another thread claimed for this engine's worker. */
  receive(arrivals: Arrivals): void {
    this.#worker.receive(arrivals)
  }

  wake(): void {
    this.#worker.wake()
  }

  async stop(): Promise<void> {
    this.#watch?.stop()
    await this.#modules?.stop()
    await this.#definitions.stop()
    await this.#files?.stop()
    await this.#worker.stop()
    await this.#planner.stop()
    await this.#clients.stop()
    closeOutside()
  }

  #requireAccess(): EngineAccess {
    if (this.#access) return this.#access
    throw new UpshotError('not_running', 'The app has not started.')
  }

  #onStoreChange(): void {
    this.#worker.wake()
    this.#worker.checkLeases().catch((error: unknown) => {
      const where = 'looking for canceled runs'
      this.#parts.notices.publish({ kind: 'fault', where, error: describeError(error) })
    })
  }

  async #reload(version: string): Promise<void> {
    if (!(await loadWatched(this.#outside, () => this.#workflows.reload(version)))) return
    this.#planner.reload()
    await this.#saveWorkflows()
    this.wake()
  }

  get #loaded(): LoadedWorkflows {
    return { ...this.#workflows.describe(), worker: this.#worker.id }
  }

  async #saveWorkflows(): Promise<void> {
    const { store, clock, notices } = this.#parts
    const { removed, elsewhere } = await store.saveWorkflows(this.#loaded, clock.now())
    // Runs that the guard holds ask with the limits of this configuration and code.
    await store.askAgain()
    await carryOutAll(store, clock)
    if (removed.length > 0) notices.publish({ kind: 'workflows.removed', workflows: removed })
    if (elsewhere.length > 0) notices.publish({ kind: 'workflows.elsewhere', workflows: elsewhere })
    this.#parts.onLoaded?.(this.#workflows.codeHashes, this.broken)
  }
}

function describeGivenWorkflows(): UpshotError {
  const message = 'With UPSHOT_EFFECTS=plan, workflows are modules in a folder: they are planned in another process.'
  return new UpshotError('invalid_config', message)
}

/** Most likely the folder is not the one that the database knows. */
async function refuseEmptyFolder({ config, store }: LocalEngineParts, set: WorkflowSet): Promise<void> {
  const { workflows, broken } = set.describe()
  if (workflows.length + broken.length > 0) return
  const known = (await store.listWorkflows()).map(({ id }) => id)
  if (known.length === 0) return
  throw new UpshotError(
    'invalid_config',
    `${config.workflowsDir} has no workflow, but the database knows ${known.join(', ')}. ` +
      'Set UPSHOT_WORKFLOWS_DIR to their folder, or retire each with "upshot workflows remove <id>".',
  )
}
