import { expect, test } from 'vitest'
import type { Notice } from '../../../src/core/notices.ts'
import { MAX_SERIES, MAX_VALUES } from '../../../src/watch/metrics/series-book.ts'
import { NOTICES } from '../../notices/support/notices.ts'
import { addTestEndpoint, saveTestWorkflows } from '../support/known.ts'
import { openTestMetrics } from '../support/open-test-metrics.ts'

const FAST = '0.001 0.0025 0.005 0.01 0.025 0.05 0.1 0.25 0.5 1 2.5 5'
const DELAY = '0.001 0.0025 0.005 0.01 0.025 0.05 0.1 0.25 0.5 1 5 30 300 3600'
const LONG = '0.01 0.05 0.1 0.5 1 5 30 60 300 1800 3600 21600 86400'
const COMMIT = '0.0001 0.00025 0.0005 0.001 0.0025 0.005 0.01 0.025 0.05 0.1 0.25 1'

/** Type, labels and bounds of each metric, on which dashboards and rules of others rest. */
const FAMILIES: Record<string, readonly [kind: string, labels: string, bounds?: string]> = {
  upshot_build_info: ['gauge', 'version node role'],
  upshot_ready: ['gauge', 'check'],
  upshot_deliveries_total: ['counter', 'endpoint verdict'],
  upshot_delivery_duration_seconds: ['histogram', 'outcome', FAST],
  upshot_receiver_waiting: ['gauge', ''],
  upshot_receiver_bytes: ['gauge', ''],
  upshot_endpoint_suspect: ['gauge', 'endpoint'],
  upshot_endpoint_last_success_timestamp_seconds: ['gauge', 'endpoint'],
  upshot_events_total: ['counter', 'type origin'],
  upshot_runs_started_total: ['counter', 'workflow origin'],
  upshot_run_start_delay_seconds: ['histogram', '', DELAY],
  upshot_runs_ended_total: ['counter', 'workflow outcome'],
  upshot_run_duration_seconds: ['histogram', 'workflow', LONG],
  upshot_runs_parked_total: ['counter', 'workflow for'],
  upshot_runs_retried_total: ['counter', 'workflow'],
  upshot_runs_lost_total: ['counter', ''],
  upshot_runs_recovered_total: ['counter', ''],
  upshot_passes_dropped_total: ['counter', ''],
  upshot_leases_given_back_total: ['counter', ''],
  upshot_steps_total: ['counter', 'workflow outcome'],
  upshot_step_duration_seconds: ['histogram', 'workflow effect', LONG],
  upshot_effects_total: ['counter', 'workflow effect'],
  upshot_runs: ['gauge', 'status'],
  upshot_runs_for_person: ['gauge', ''],
  upshot_failures_open: ['gauge', ''],
  upshot_worker_slots: ['gauge', ''],
  upshot_worker_slots_busy: ['gauge', ''],
  upshot_engine_memory_bytes: ['gauge', 'of'],
  upshot_engine_memory_short: ['gauge', ''],
  upshot_store_commit_duration_seconds: ['histogram', '', COMMIT],
  upshot_store_sync_duration_seconds: ['histogram', '', COMMIT],
  upshot_store_commit_writes: ['histogram', '', '1 2 5 10 25 50 100'],
  upshot_store_bytes: ['gauge', 'part'],
  upshot_disk_free_bytes: ['gauge', ''],
  upshot_ticks_total: ['counter', 'workflow'],
  upshot_ticks_missed_total: ['counter', 'workflow'],
  upshot_tick_lateness_seconds: ['histogram', '', DELAY],
  upshot_schedule_last_tick_timestamp_seconds: ['gauge', 'workflow'],
  upshot_files_calls_total: ['counter', 'operation outcome'],
  upshot_files_call_duration_seconds: ['histogram', 'operation', `${FAST} 10 30 60`],
  upshot_files_limit_wait_seconds_total: ['counter', 'account'],
  upshot_files_limit_per_minute: ['gauge', 'account'],
  upshot_guard_held_total: ['counter', 'workflow rule'],
  upshot_approvals_open: ['gauge', ''],
  upshot_alerts_sent_total: ['counter', 'rule channel outcome'],
  upshot_spans_dropped_total: ['counter', ''],
  upshot_metrics_series_dropped_total: ['counter', ''],
  upshot_faults_total: ['counter', 'where'],
  upshot_admin_requests_total: ['counter', 'operation class'],
  upshot_admin_request_duration_seconds: ['histogram', 'operation', FAST],
}

/** A scrape after one notice of each kind. */
async function scrapeAll(): Promise<string> {
  const { metrics, store, text } = openTestMetrics({ alerts: [{ rule: 'run.failed', channel: 'ops' }] })
  await addTestEndpoint(store, 'main')
  await saveTestWorkflows(store, 'verify-transfer', 'nightly')
  const [endpoint] = await store.listEndpoints()
  for (const notice of Object.values(NOTICES) as Notice[]) {
    metrics.count('endpoint' in notice ? ({ ...notice, endpoint: endpoint?.id } as Notice) : notice)
  }
  return text()
}

test('every metric keeps its type, labels and bounds', async () => {
  const scraped = await scrapeAll()
  const found = Object.keys(FAMILIES).map((name) => {
    const kind = new RegExp(`^# TYPE ${name} (\\w+)$`, 'm').exec(scraped)?.[1]
    const series = scraped.match(new RegExp(`^${name}(?:_bucket|_sum|_count)?(?:\\{.*\\})? `, 'gm')) ?? []
    const labels = new Set(series.flatMap((line) => Array.from(line.matchAll(/(\w+)="/g), ([, label]) => label)))
    const bounds = new Set(series.flatMap((line) => Array.from(line.matchAll(/[{,]le="([\d.]+)"/g), ([, le]) => le)))
    const told = [kind, [...labels].filter((label) => label !== 'le').join(' ')]
    return [name, bounds.size === 0 ? told : [...told, [...bounds].join(' ')]]
  })
  expect(Object.fromEntries(found)).toEqual(FAMILIES)
})

test('no label holds an id, a path, a message or the name of a step', async () => {
  const ours = (await scrapeAll()).split('\n').filter((line) => line.startsWith('upshot_'))
  const values = ours.flatMap((line) => Array.from(line.matchAll(/\w+="([^"]*)"/g), ([, value = '']) => value))
  expect(new Set(values).size).toBeGreaterThan(80)
  // Operations of the admin API are named by their pattern, with no id in it.
  expect(values.filter((value) => /^(run|evt|dlv|end|apr|fil|wrk|trf)_|^\/|declined/.test(value))).toEqual([])
  expect(values.filter((value) => ['pay', 'read', 'files.delete', '/in/a.csv'].includes(value))).toEqual([])
})

test('the bounds of labels and series are those that the guide names', () => {
  expect(MAX_VALUES).toEqual({ workflow: 200, endpoint: 100, type: 100, operation: 200, kind: 60 })
  expect(MAX_SERIES).toBe(5_000)
})
