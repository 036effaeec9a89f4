import type { Health } from '../../admin/ports/health.ts'
import { CommitCounts } from '../../core/commit-counts.ts'
import { listRules } from '../../core/safety/guard.ts'
import type { Store } from '../../core/store/store.ts'
import type { Clock } from '../../core/time.ts'
import type { ErrorFacts } from '../../files/errors.ts'
import type { NoticeBus } from '../../notices/notice-bus.ts'
import type { Config } from '../../project/config/load-config.ts'
import { databaseFile } from '../../project/data-dir/data-files.ts'
import { readVersion } from '../../project/read-version.ts'
import { type KnownLabels, Metrics, type MetricsParts } from '../../watch/metrics/metrics.ts'
import type { GaugeSources } from '../../watch/metrics/read-gauges.ts'
import { DatabaseClock } from '../engine/database/database-clock.ts'
import type { RolePlan } from '../role.ts'

interface MetricsWiring
  extends Pick<GaugeSources, 'slots' | 'memory' | 'intake' | 'fileLimits'>,
    Pick<MetricsParts, 'spansDropped' | 'alerts'> {
  store: Store
  clock: Clock
  notices: NoticeBus
  plan: RolePlan
  health: Health
  /** The memory in which the store counts its commits. */
  commits: SharedArrayBuffer
}

/** Approvals that a scrape counts; more are told as this many. */
const MAX_APPROVALS = 1_000

/** The metrics of this process, which count its notices from now on. */
export function openMetrics(config: Config, wiring: MetricsWiring): Metrics {
  const { store, notices, health, commits, ...rest } = wiring
  const metrics = new Metrics({
    ...rest,
    store,
    version: readVersion(),
    role: config.role,
    readiness: lateReadiness(health),
    countOpenRuns: () => store.countOpenRuns(rest.clock.now()),
    listOpenApprovals: () => store.listApprovals({ status: 'open', limit: MAX_APPROVALS, now: rest.clock.now() }),
    readSealState: () => store.readSealState(),
    readServerState: () => store.readServerState(),
    guardRules: config.guardPolicy.limits === null ? [] : listRules(config.guardPolicy.limits),
    database: databaseFile(config),
    commits: new CommitCounts(commits),
    isServer: (config.database ?? null) !== null,
    clockOffsetMs: () => (rest.clock instanceof DatabaseClock ? rest.clock.offsetMs : null),
    readKnown,
  })
  notices.subscribe('*', (notice) => metrics.count(notice))
  return metrics
}

const FILE_OPERATIONS = {
  list: 0,
  find: 0,
  get: 0,
  download_url: 0,
  download: 0,
  hash: 0,
  delete: 0,
} as const satisfies Record<ErrorFacts['operation'], 0>

/** Loaded by the first scrape: an app that nobody scrapes does without the table of routes. */
async function readKnown(): Promise<KnownLabels> {
  const { ROUTES } = await import('../../admin/contract/routes.ts')
  const errors = Object.keys(await import('../../files/index.ts')).filter((name) => name.endsWith('Error'))
  return {
    fileOperations: Object.keys(FILE_OPERATIONS),
    fileOutcomes: ['ok', 'left', ...errors],
    adminOperations: Object.keys(ROUTES),
  }
}

/**
 * The results of the checks that the scrape before began. A check writes to the disk, and no scrape
 * waits for that but the first.
 */
function lateReadiness(health: Health): () => Promise<Record<string, string>> {
  let latest: Promise<Record<string, string>> | null = null
  const check = () => health.check().then(({ checks }) => checks)
  return () => {
    const shown = latest ?? check()
    latest = latest === null ? shown : check()
    return shown
  }
}
