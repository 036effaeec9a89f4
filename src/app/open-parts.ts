import { AdminServer } from '../admin/admin-server.ts'
import { createHealth } from '../admin/ports/health.ts'
import type { AnyWorkflow } from '../author/workflow.ts'
import { newId } from '../core/ids.ts'
import type { Publish } from '../core/notices.ts'
import { type BrokenModule, describeBroken } from '../core/runs/workflow-record.ts'
import type { Anchor } from '../core/safety/ledger/anchor.ts'
import type { ListReads, Store } from '../core/store/store.ts'
import type { Clock } from '../core/time.ts'
import type { KnownSecrets } from '../notices/log/redact.ts'
import type { NoticeBus } from '../notices/notice-bus.ts'
import type { Config } from '../project/config/load-config.ts'
import { appendAnchor } from '../project/data-dir/anchor-file.ts'
import { Receiver, type ReceiverParts } from '../receive/receiver.ts'
import { HourCounter } from '../schedule/hour-counter.ts'
import { Pruner } from '../schedule/pruner.ts'
import { Scheduler } from '../schedule/scheduler.ts'
import { Sealer } from '../schedule/sealer.ts'
import { Sweeper } from '../schedule/sweep/sweeper.ts'
import type { StoreOptions } from '../store/open-store.ts'
import type { SharedStore } from '../store/shared-store.ts'
import type { Tracing } from '../watch/traces/tracing.ts'
import { openConsole } from './console/open-console.ts'
import { ProcessBeat } from './console/process-beat.ts'
import type { Engine } from './engine/engine.ts'
import { readRoutes } from './engine/read-routes.ts'
import { stopRestored } from './engine/start/settle-start.ts'
import { listSendings, openAlerts } from './health/open-alerts.ts'
import { openMetrics } from './health/open-metrics.ts'
import { readinessChecks } from './health/readiness.ts'
import type { RolePlan } from './role.ts'
import type { EmbeddedSandbox } from './service/embedded-sandbox.ts'
import { sweepFiles } from './service/sweep-files.ts'

/** Parts that a test or a program may replace. */
export interface AppParts {
  clock: Clock
  random: () => number
  notices: NoticeBus
  /** Told every secret of the app, so that its log never shows one. */
  secrets: KnownSecrets
  /** Default: the store that threads share. */
  openStore: (options: StoreOptions) => Store | Promise<Store>
  /** Run on this thread. Default: the modules in the workflows folder, on a thread of their own. */
  workflows: readonly AnyWorkflow[]
}

/** The app as its parts see it. */
export interface AppHooks {
  phase(): 'new' | 'starting' | 'started' | 'stopping'
  /** Null before the sandbox has started, and where the app works with the real service. */
  embedded(): EmbeddedSandbox | null
}

interface Wiring extends Pick<AppParts, 'clock' | 'notices' | 'secrets'> {
  store: Store
  plan: RolePlan
  /** Null in a process without a worker. */
  engine: Engine | null
  /** The memory in which the store counts its commits. */
  commits: SharedArrayBuffer
  hooks: AppHooks
  /** The key of the marks on probes of our commands. */
  probeKey: Uint8Array
  /** Null where no collector is set. */
  tracing: Tracing | null
}

export type OpenParts = ReturnType<typeof openParts>

/** Makes every part beside the engine; none of them has started. */
export function openParts(config: Config, { commits, hooks, tracing, ...wiring }: Wiring) {
  const { clock, notices, secrets, store, plan, engine, probeKey } = wiring
  const { publish } = notices
  const aside = readAside(store)
  const routes = (setup?: number) => readRoutes(store, setup)
  /** Tells the engine, which may be on another thread. */
  const publishQueued: Publish = (notice) => {
    publish(notice)
    if (notice.kind === 'run.queued') engine?.wake()
  }
  const receiver = new Receiver({
    store,
    intake: engine ?? store,
    clock,
    publish: publishQueued,
    routes,
    probeKey,
    limits: config.receive,
  } satisfies Required<Omit<ReceiverParts, 'timeouts'>>)
  const checks = readinessChecks({
    role: config.role,
    store,
    clock,
    phase: hooks.phase,
    requireDisk: watchDisk({ notices, clock }),
    readRoutes: routes,
    checkEndpoints: plan.receive ? () => receiver.checkEndpoints() : null,
  })
  const broken = () => listBroken(engine, secrets)
  const clockWarnings = watchClock({ notices, clock })
  const health = createHealth(checks, { warnings: () => [...broken().map(describeBroken), ...clockWarnings()] })
  const metrics = openMetrics(config, {
    store,
    clock,
    notices,
    plan,
    health,
    commits,
    slots: engine ? () => ({ total: config.slots, busy: engine.load.busy }) : null,
    memory: () => engine?.load.memory ?? null,
    intake: plan.receive ? () => receiver.load : null,
    fileLimits: () => engine?.load.fileLimits ?? [],
    spansDropped: () => tracing?.dropped ?? 0,
    alerts: listSendings(config.alerts?.rules),
  })
  return {
    receiver,
    scheduler: new Scheduler({ store, clock, publish: publishQueued }),
    alerts: openAlerts(config, { store, clock, publish }),
    hours: new HourCounter({ store: aside, clock, publish }),
    beat: new ProcessBeat({ store, clock, broken }),
    ...openSealer(config, { store, clock, publish }),
    sweeper: openSweeper(config, { store, clock, publish, embedded: hooks.embedded }),
    pruner: new Pruner({ store, clock, publish, retention: config.retention }),
    admin: new AdminServer(health, {
      host: config.admin.host,
      routes: openConsole(config, {
        store: aside,
        openLists: listOpener(store, publish),
        clock,
        notices,
        health,
        embedded: hooks.embedded,
        metrics,
        probeKey,
      }),
    }),
  }
}

function openSweeper(config: Config, parts: Parameters<typeof sweepFiles>[1]): Sweeper {
  const { store, clock, publish } = parts
  return new Sweeper(config.reconcile ?? [], {
    store,
    clock,
    publish,
    owner: newId('wrk', clock.now()),
    approvals: config.guardPolicy.approvals,
    filesOf: sweepFiles(config, parts),
  })
}

/** Modules that are told; a folder with more has one fault. */
const MAX_BROKEN = 50
/** Characters of a reason. */
const MAX_REASON = 500

function listBroken(engine: Engine | null, secrets: KnownSecrets): BrokenModule[] {
  return (engine?.broken ?? []).slice(0, MAX_BROKEN).map(({ file, reason }) => ({
    file,
    reason: secrets.redact(reason).slice(0, MAX_REASON),
  }))
}

/**
 * `stopRestored` stops all effects where the database lacks an anchor. Null beside an embedded
 * sandbox, whose database is removed and put back at will.
 */
function openSealer(
  { anchorFile = null, service }: Config,
  { store, clock, publish }: Pick<Wiring, 'store' | 'clock'> & { publish: Publish },
) {
  const keepAnchor = anchorFile === null ? null : (anchor: Anchor) => appendAnchor(anchorFile, anchor)
  const stop = async (anchor: Anchor) => {
    if (await stopRestored(store, anchor, clock.now())) publish({ kind: 'effects.restored', anchoredAt: anchor.at })
  }
  const parts = { stopRestored: service.kind === 'sandbox' ? null : stop }
  return { sealer: new Sealer({ store, clock, publish, keepAnchor, ...parts }), ...parts }
}

/** The same store, whose reads for people go beside those of the app where it has a way. */
function readAside(store: Store | SharedStore): Store {
  return 'aside' in store ? { ...store, ...store.aside } : store
}

/** Opens the reads of a list: from a standby where one is set, else as {@link readAside} does. */
export function listOpener(store: Store | SharedStore, publish: Publish): () => Promise<ListReads> {
  const { openLists } = store as Partial<SharedStore>
  if (openLists === undefined) {
    const aside = readAside(store)
    return async () => aside
  }
  return () =>
    openLists((change) =>
      publish(
        change.kind === 'left'
          ? { kind: 'store.standby_left', why: change.why }
          : { kind: 'store.standby_back', ms: change.ms },
      ),
    )
}

/** Longer than load balancers and scrapers take from one look to the next, in milliseconds. */
export const REFUSED_FOR_MS = 30_000

/** Faults of a disk that a delivery may meet while the one small row of a probe is saved. */
const OF_DISK: Record<string, string> = {
  database_full: 'is full',
  database_unwritable: 'cannot be written',
  database_unreadable: 'cannot be read or written',
  database_corrupt: 'has damaged it',
}

/**
 * Watches for deliveries that the disk of the database refuses. The result throws for a while after
 * each: the row that a probe writes may well pass. See decision 90.
 */
export function watchDisk({ notices, clock }: { notices: Pick<NoticeBus, 'subscribe'>; clock: Clock }): () => void {
  let refused = { at: Number.NEGATIVE_INFINITY, why: '' }
  notices.subscribe('delivery.received', ({ verdict, facts }) => {
    const why = verdict === 'unavailable' ? OF_DISK[facts.reason ?? ''] : undefined
    if (why !== undefined) refused = { at: clock.now(), why }
  })
  return () => {
    const ageMs = clock.now() - refused.at
    // Less than 0 ms after the clock was set back.
    if (ageMs < 0 || ageMs >= REFUSED_FOR_MS) return
    const ago = `${Math.ceil(ageMs / 1_000)} s ago`
    throw new Error(`the disk of the database ${refused.why}: a delivery of ${ago} could not be saved`)
  }
}

/** A service that tries a delivery again does so within a few minutes. */
export const CLOCK_WARNED_MS = 600_000

/**
 * Watches for deliveries whose signature fits and whose timestamp does not: the clock of this
 * machine may be wrong. The result warns for a while after each, or until one is accepted.
 */
export function watchClock({ notices, clock }: Parameters<typeof watchDisk>[0]): () => string[] {
  let refused = { at: Number.NEGATIVE_INFINITY, skew: 0 }
  notices.subscribe('delivery.received', ({ verdict, facts: { skewSeconds: skew } }) => {
    if (skew === undefined) return
    if (verdict === 'stale' || verdict === 'unavailable') refused = { at: clock.now(), skew }
    if (verdict === 'accepted') refused.at = Number.NEGATIVE_INFINITY
  })
  return () => {
    const ageMs = clock.now() - refused.at
    if (ageMs < 0 || ageMs >= CLOCK_WARNED_MS) return []
    const off = `${Math.abs(refused.skew)} s ${refused.skew < 0 ? 'behind' : 'ahead'}`
    const what = `A delivery whose signature fits was refused ${Math.ceil(ageMs / 1_000)} s ago`
    return [`${what}: by its timestamp, this clock is ${off}. Compare the clock of this machine, for example with NTP.`]
  }
}
