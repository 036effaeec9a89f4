import { CommitCounts } from '../core/commit-counts.ts'
import { describeError } from '../core/errors.ts'
import { deriveProbeKey } from '../core/incoming/probe-mark.ts'
import { isLoopback } from '../core/service/account.ts'
import type { Store, StoreWatch } from '../core/store/store.ts'
import type { Clock } from '../core/time.ts'
import { KnownSecrets } from '../notices/log/redact.ts'
import { createNoticeBus, type NoticeBus } from '../notices/notice-bus.ts'
import type { Config } from '../project/config/load-config.ts'
import { loadHighestAnchor } from '../project/data-dir/anchor-file.ts'
import { examineDataDir } from '../project/data-dir/examine-data-dir.ts'
import { storeOptions } from '../project/data-dir/open-store.ts'
import { type Runtime, removeRuntimeFile, writeRuntimeFile } from '../project/data-dir/runtime-file.ts'
import { readVersion } from '../project/read-version.ts'
import type { Sandbox } from '../sandbox/index.ts'
import { openSharedStore } from '../store/open-store.ts'
import type { Tracing } from '../watch/traces/tracing.ts'
import { type AppUrls, describeRuntime, describeUrls, listUrls } from './app-urls.ts'
import { DatabaseClock } from './engine/database/database-clock.ts'
import type { Engine } from './engine/engine.ts'
import { openEngine } from './engine/open-engine.ts'
import { noteGuard, settleEffects } from './engine/start/settle-start.ts'
import { RunLogKeeper } from './log/run-log-keeper.ts'
import { SecretWatch } from './log/secret-watch.ts'
import type { AppHooks, AppParts, OpenParts, openParts } from './open-parts.ts'
import { planParts, type RolePlan } from './role.ts'
import { accessTo } from './service/access-to.ts'
import {
  type EmbeddedSandbox,
  makeSampleTransfer,
  registerWebhook,
  startEmbeddedSandbox,
} from './service/embedded-sandbox.ts'
import { ensureEndpoint } from './service/ensure-endpoint.ts'

/**
 * Upshot in one process: the whole app, or the parts that its role names. `start` and `stop` may be
 * called more than once.
 */
export class App {
  readonly store: Store
  /** The one that all processes of the database share. */
  readonly clock: Clock
  readonly notices: NoticeBus
  readonly #config: Config
  readonly #stopClock: () => void
  readonly #plan: RolePlan
  readonly #engine: Engine | null
  readonly #parts: OpenParts
  readonly #tracing: Tracing | null
  readonly #secrets: SecretWatch
  readonly #runLogs: RunLogKeeper
  #phase: ReturnType<AppHooks['phase']> = 'new'
  #embedded: EmbeddedSandbox | null = null
  #watch: StoreWatch | null = null
  /** The facts that this app wrote to the runtime file. */
  #announced: Runtime | null = null
  #started: Promise<AppUrls> | null = null
  #stopped: Promise<void> | null = null

  /** Opens the store and loads the workflows. Throws `invalid_config` and `invalid_workflow`. */
  static async create(config: Config, parts: Partial<AppParts> = {}): Promise<App> {
    const plan = planParts(config)
    const { notices = createNoticeBus(), secrets = new KnownSecrets(), workflows } = parts
    const { random = Math.random } = parts
    const commits = CommitCounts.allocate()
    examineDataDir(config, notices.publish)
    const options = { ...storeOptions(config), commits }
    const store = await (parts.openStore ?? openSharedStore)(options)
    const probeKey = deriveProbeKey(options.vaultKey)
    let stopClock = () => {}
    try {
      const followed = await followClock(parts, store)
      stopClock = followed.stop
      const { clock } = followed
      const given = { clock, random, notices, ...(workflows === undefined ? {} : { workflows }) }
      // Its thread and this one load their modules at the same time.
      const [engine, { openParts }] = await Promise.all([
        plan.work ? openEngine({ config, store, storeOptions: options, ...given }) : null,
        import('./open-parts.ts'),
        config.service.kind === 'sandbox' ? import('../sandbox/index.ts') : null,
      ])
      const tracing = await traceNotices(config, notices, clock)
      const made = { clock, stopClock, notices, secrets, plan, store, engine, commits, tracing, probeKey, openParts }
      return new App(config, made)
    } catch (error) {
      stopClock()
      await store.close()
      throw error
    }
  }

  private constructor(
    config: Config,
    given: Omit<Parameters<typeof openParts>[1], 'hooks'> & { openParts: typeof openParts; stopClock: () => void },
  ) {
    this.notices = given.notices
    this.store = given.store
    this.#config = config
    this.clock = given.clock
    this.#stopClock = given.stopClock
    this.#plan = given.plan
    this.#engine = given.engine
    this.#tracing = given.tracing
    const embedded = () => this.#embedded
    this.#parts = given.openParts(config, { ...given, hooks: { phase: () => this.#phase, embedded } })
    this.#secrets = new SecretWatch({ ...given, config, embedded })
    this.#runLogs = new RunLogKeeper(given)
  }

  /** Null before the start, and where the app works with the real service. */
  get sandbox(): Sandbox | null {
    return this.#embedded?.sandbox ?? null
  }

  start(): Promise<AppUrls> {
    this.#started ??= this.#start()
    return this.#started
  }

  /**
   * Resolves when all work is finished or parked, and nothing more will be written. Where a part
   * fails, rejects once all have stopped.
   */
  stop(reason = 'asked to'): Promise<void> {
    this.#stopped ??= this.#stop(reason)
    return this.#stopped
  }

  /** Whatever can fail comes before the first row: a start that fails changes nothing. */
  async #start(): Promise<AppUrls> {
    const { receiver, scheduler, pruner, sealer, sweeper, hours, alerts, beat } = this.#parts
    const { receive, schedule } = this.#plan
    this.#phase = 'starting'
    const { receiverUrl, adminUrl } = await this.#listen()
    const isNewSandbox = receive && (await this.#openEndpoint(receiverUrl))
    await this.#secrets.refresh()
    // Before the mode is settled: of two processes that start at once, one sees the other.
    await beat.start({ role: this.#config.role, pid: process.pid, version: readVersion(), adminUrl, receiverUrl })
    if (this.#engine) await this.#startEngine(this.#engine, receiverUrl)
    // It may have the anchors of workers on other machines.
    else if (schedule) await this.#stopRestored()
    if (schedule) {
      scheduler.start()
      pruner.start()
      sealer.start()
      sweeper.start()
      hours.start()
      alerts?.start()
    }
    this.#watch = this.store.watch(this.clock, () => this.#onStoreChange())
    const urls = await this.#announce(receiverUrl, adminUrl)
    this.#phase = 'started'
    if (receive) {
      receiver.open()
      this.#takeInCaptures()
      // Deliveries are taken whatever this finds; `/readyz` and a notice of kind `fault` report it.
      void receiver.checkEndpoints().catch(() => {})
    }
    this.notices.publish({ kind: 'app.started', urls: listUrls(urls) })
    if (this.#embedded && isNewSandbox) await makeSampleTransfer(this.#embedded.sandbox)
    return urls
  }

  async #startEngine(engine: Engine, receiverUrl: string): Promise<void> {
    const { effects: mode = 'live', guardPolicy } = this.#config
    const { clock, notices } = this
    const { beat } = this.#parts
    const { publish } = notices
    const isSwitched = await settleEffects(this.store, { mode, self: beat.id, clock, publish }).catch(async (error) => {
      // Else the row of this process would keep the next one from starting.
      await beat.stop()
      throw error
    })
    if (isSwitched || mode === 'plan') this.notices.publish({ kind: 'effects.mode', mode, isSwitched })
    await noteGuard(this.store, guardPolicy, clock.now())
    await this.#stopRestored()
    const access = accessTo(this.#config, this.#embedded)
    // A service on this machine is a sandbox, whose senders reach the address of this process.
    const isSandbox = receiverUrl !== '' && isLoopback(new URL(access.baseUrl).hostname)
    const origin = this.#config.publicUrl ?? (isSandbox ? receiverUrl : null)
    const callbacks = origin === null ? {} : { callbacks: { origin, key: await this.store.loadHookKey() } }
    await engine.start({ ...access, ...callbacks })
    await beat.tell()
  }

  async #stopRestored(): Promise<void> {
    const { anchorFile = null } = this.#config
    const anchor = anchorFile === null ? null : loadHighestAnchor(anchorFile)
    if (anchor !== null) await this.#parts.stopRestored?.(anchor)
  }

  /** Takes every port. The receiver answers 503 until the start is complete. */
  async #listen(): Promise<{ receiverUrl: string; adminUrl: string }> {
    const { host, ports, service } = this.#config
    const { receive } = this.#plan
    const receiverUrl = receive ? await this.#parts.receiver.listen({ host, port: ports.receiver }) : ''
    const adminUrl = await this.#parts.admin.start(ports.admin)
    if (receive && service.kind === 'sandbox') {
      this.#embedded = await startEmbeddedSandbox(this.#config, this.notices.publish)
    }
    return { receiverUrl, adminUrl }
  }

  /** Adds the endpoint of the service where there is none. True for a sandbox that it is new to. */
  async #openEndpoint(receiverUrl: string): Promise<boolean> {
    const endpoint = await ensureEndpoint(this.store, this.#config, this.clock.now())
    return this.#embedded !== null && registerWebhook(this.#embedded.sandbox, endpoint, receiverUrl)
  }

  /** Writes the addresses where the command line finds them. */
  async #announce(receiverUrl: string, adminUrl: string): Promise<AppUrls> {
    const embedded = this.#embedded
    const { dataDir, publicUrl } = this.#config
    const urls = await describeUrls(this.store, { receiverUrl, adminUrl, embedded, publicUrl })
    if (this.#plan.receive) {
      this.#announced = describeRuntime(urls, embedded, this.clock.now())
      writeRuntimeFile(dataDir, this.#announced)
    }
    return urls
  }

  async #stop(reason: string): Promise<void> {
    const { receiver, scheduler, pruner, sealer, sweeper, hours, alerts, beat, admin } = this.#parts
    this.#phase = 'stopping'
    this.notices.publish({ kind: 'app.stopping', reason })
    // A start that is under way finishes first: half an app is harder to stop than a whole one.
    await this.#started?.catch(() => {})
    if (this.#announced) removeRuntimeFile(this.#config.dataDir, this.#announced)
    this.#watch?.stop()
    // While runs finish, the receiver answers 503, so that senders know to try again.
    const drained = receiver.drain()
    this.#stopClock()
    const faults = [
      ...(await settleAll([pruner.stop(), sweeper.stop(), hours.stop(), alerts?.stop(), beat.stop()])),
      ...(await settleAll([drained, scheduler.stop(), this.#engine?.stop()])),
      ...(await settleAll([receiver.stop()])),
      // The admin server answers while the app drains, so that load balancers see it stopping.
      ...(await settleAll([admin.stop()])),
      ...(await settleAll([this.#runLogs.stop(), this.#embedded?.sandbox.stop(), sealer.stop()])),
      ...(await settleAll([this.store.close(), this.#tracing?.stop()])),
    ]
    this.notices.publish({ kind: 'app.stopped' })
    if (faults.length > 0) throw faults[0]
  }

  #onStoreChange(): void {
    this.#takeInCaptures()
    this.#secrets.refresh().catch((error: unknown) => {
      this.notices.publish({ kind: 'fault', where: 'reading the secrets to redact', error: describeError(error) })
    })
  }

  #takeInCaptures(): void {
    this.#parts.receiver.takeInCaptures().catch((error: unknown) => {
      this.notices.publish({ kind: 'fault', where: 'taking in captured deliveries', error: describeError(error) })
    })
  }
}

/** Waits for all parts, and returns the errors of those that failed. */
async function settleAll(parts: readonly (Promise<void> | undefined)[]): Promise<unknown[]> {
  const results = await Promise.allSettled(parts)
  return results.flatMap((result) => (result.status === 'rejected' ? [result.reason] : []))
}

/** The given clock, or the one that all processes of the database share. */
async function followClock({ clock }: Partial<AppParts>, store: Store): Promise<{ clock: Clock; stop: () => void }> {
  return clock === undefined ? DatabaseClock.follow(store) : { clock, stop: () => {} }
}

/** Null where no collector is set. */
async function traceNotices({ traces }: Config, notices: NoticeBus, clock: Clock): Promise<Tracing | null> {
  if (!traces) return null
  const { openTracing } = await import('../watch/traces/open-tracing.ts')
  return openTracing(traces, { notices, clock, version: readVersion() })
}
