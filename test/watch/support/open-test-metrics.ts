import { join } from 'node:path'
import { CommitCounts } from '../../../src/core/commit-counts.ts'
import { ManualClock } from '../../../src/core/time.ts'
import { Metrics, type MetricsParts } from '../../../src/watch/metrics/metrics.ts'
import { openTestStore } from '../../support/test-store.ts'
import { NOW } from './run-notices.ts'

export const OPEN_METRICS = 'application/openmetrics-text; version=1.0.0'

/** Metrics on a real store; `values` reads a scrape as series and numbers. */
export function openTestMetrics(given: Partial<MetricsParts> = {}) {
  const store = openTestStore()
  const clock = new ManualClock(NOW)
  const metrics = new Metrics({
    store,
    clock,
    plan: { receive: true, work: true, schedule: true },
    version: '0.1.0',
    role: 'all',
    readiness: async () => ({ writable: 'ok', app: 'starting' }),
    countOpenRuns: () => store.countOpenRuns(NOW),
    listOpenApprovals: () => store.listApprovals({ status: 'open', limit: 1_000, now: clock.now() }),
    readSealState: () => store.readSealState(),
    readServerState: () => store.readServerState(),
    guardRules: ['folder', 'guard.workflow.deletes.perRun'],
    slots: () => ({ total: 20, busy: 3 }),
    memory: () => ({ heap: 5, buffers: 6, isShort: true }),
    intake: () => ({ waiting: 1, bytes: 2 }),
    fileLimits: () => [{ account: 'default', perMinute: 100 }],
    database: join(store.folder, 'upshot.db'),
    commits: new CommitCounts(),
    isServer: false,
    clockOffsetMs: () => null,
    spansDropped: () => 0,
    alerts: [],
    readKnown: async () => ({ fileOperations: ['get'], fileOutcomes: ['ok'], adminOperations: ['GET /runs'] }),
    ...given,
  })
  return {
    store,
    clock,
    metrics,
    text: async (accept = '') => (await metrics.scrape(accept)).text,
    async values(): Promise<Record<string, number>> {
      const lines = (await metrics.scrape('')).text.split('\n').filter((line) => line !== '' && !line.startsWith('#'))
      return Object.fromEntries(
        lines.map((line) => [line.slice(0, line.lastIndexOf(' ')), Number(line.slice(line.lastIndexOf(' ')))]),
      )
    },
  }
}
