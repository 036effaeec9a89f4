import type { Health } from '../../admin/health.ts'
import { CommitCounts } from '../../core/commit-counts.ts'
import { listRules } from '../../core/safety/guard.ts'
import type { Store } from '../../core/store/store.ts'
import type { Clock } from '../../core/time.ts'
import type { NoticeBus } from '../../notices/notice-bus.ts'
import type { Config } from '../../project/config/load-config.ts'
import { databaseFile } from '../../project/data-dir/data-files.ts'
import { readVersion } from '../../project/read-version.ts'
import { Metrics, type MetricsParts } from '../../watch/metrics/metrics.ts'
import type { GaugeSources } from '../../watch/metrics/read-gauges.ts'
import type { RolePlan } from '../role.ts'

interface MetricsWiring
  extends Pick<GaugeSources, 'slots' | 'intake' | 'fileLimits'>,
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
const MOST_APPROVALS = 1_000

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
    listOpenApprovals: () => store.listApprovals({ status: 'open', limit: MOST_APPROVALS, now: rest.clock.now() }),
    readSealState: () => store.readSealState(),
    guardRules: config.guardPolicy.limits === null ? [] : listRules(config.guardPolicy.limits),
    database: databaseFile(config),
    commits: new CommitCounts(commits),
  })
  notices.subscribe('*', (notice) => metrics.count(notice))
  return metrics
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
