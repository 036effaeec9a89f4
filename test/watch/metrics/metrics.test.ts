import { expect, test } from 'vitest'
import { planEndpoint } from '../../../src/core/incoming/endpoint.ts'
import { traceIdOf } from '../../../src/core/runs/trace.ts'
import { deleteFiles } from '../../contract/support/delete-files.ts'
import { NOW as FIXED, incoming } from '../../support/fixtures.ts'
import { addTestEndpoint, saveTestWorkflows } from '../support/known.ts'
import { OPEN_METRICS, openTestMetrics } from '../support/open-test-metrics.ts'
import { hasPrometheus, promtool, WITH_PROMETHEUS } from '../support/promtool.ts'
import { NOW, runNotices } from '../support/run-notices.ts'

const ROOT = { kind: 'event', account: 'default', event: 'evt_1' } as const

test('a run of three steps is counted by workflow, outcome and effect', async () => {
  const { metrics, values } = openTestMetrics()
  for (const notice of runNotices()) metrics.count(notice)
  expect(await values()).toMatchObject({
    'upshot_deliveries_total{endpoint="end_1",verdict="accepted"}': 1,
    'upshot_delivery_duration_seconds_bucket{outcome="taken",le="0.001"}': 0,
    'upshot_delivery_duration_seconds_bucket{outcome="taken",le="0.0025"}': 1,
    'upshot_events_total{type="file.created",origin="webhook"}': 1,
    'upshot_runs_started_total{workflow="verify",origin="event"}': 1,
    upshot_run_start_delay_seconds_count: 1,
    'upshot_runs_ended_total{workflow="verify",outcome="completed"}': 1,
    'upshot_run_duration_seconds_sum{workflow="verify"}': 0.012,
    'upshot_steps_total{workflow="verify",outcome="completed"}': 3,
    'upshot_step_duration_seconds_count{workflow="verify",effect="write"}': 2,
    'upshot_effects_total{workflow="verify",effect="write"}': 2,
    'upshot_effects_total{workflow="verify",effect="delete"}': 0,
  })
})

test('a run that parks is counted by what it waits for', async () => {
  const { metrics, values } = openTestMetrics()
  const about = { run: 'run_1', workflow: 'tidy', root: null, parentRun: null, reason: 'waits' }
  const parked = { kind: 'run.parked', ...about, dueAt: null } as const
  metrics.count({ ...parked, dueAt: NOW + 1, awaits: null })
  metrics.count({ ...parked, dueAt: NOW + 1, awaits: 'event' })
  for (const _ of [1, 2]) metrics.count({ ...parked, awaits: 'people' })
  for (const _ of [1, 2, 3]) metrics.count({ ...parked, awaits: null })
  expect(await values()).toMatchObject({
    'upshot_runs_parked_total{workflow="tidy",for="time"}': 1,
    'upshot_runs_parked_total{workflow="tidy",for="event"}': 1,
    'upshot_runs_parked_total{workflow="tidy",for="approval"}': 2,
    'upshot_runs_parked_total{workflow="tidy",for="person"}': 3,
    'upshot_runs_parked_total{workflow="tidy",for="turn"}': 0,
  })
})

test('a scrape tells how many rows of the ledger have no seal since when, and when it was anchored', async () => {
  const { metrics, store, values } = openTestMetrics()
  expect(await values()).not.toHaveProperty('upshot_ledger_anchor_timestamp_seconds')
  await deleteFiles(store, ['a'])
  metrics.count({ kind: 'effects.anchored', seal: 1, last: 2, mac: 'ab' })
  const unsealed = { upshot_ledger_unsealed_rows: 2, upshot_ledger_unsealed_timestamp_seconds: FIXED / 1_000 }
  expect(await values()).toMatchObject({ ...unsealed, upshot_ledger_anchor_timestamp_seconds: NOW / 1_000 })
  await store.sealEffects({ now: FIXED, limit: 10 })
  const sealed = await values()
  expect(sealed.upshot_ledger_unsealed_rows).toBe(0)
  expect(sealed).not.toHaveProperty('upshot_ledger_unsealed_timestamp_seconds')
})

test('a new process knows when an endpoint last took a delivery, however many came to others', async () => {
  const { store, values } = openTestMetrics()
  const [quiet, busy] = [planEndpoint({ name: 'quiet' }, FIXED), planEndpoint({ name: 'busy' }, FIXED)]
  for (const endpoint of [quiet, busy]) await store.addEndpoint(endpoint)
  const deliver = (event: string, endpointId: string, receivedAt: number) =>
    store.saveDelivery(incoming(event, { endpointId, receivedAt, facts: { secret: 0 } }))
  await deliver('evt_quiet', quiet.id, FIXED)
  for (let n = 0; n < 1_000; n++) await deliver(`evt_${n}`, busy.id, FIXED + 60_000)
  expect(await values()).toMatchObject({
    'upshot_endpoint_last_success_timestamp_seconds{endpoint="quiet"}': FIXED / 1_000,
    'upshot_endpoint_last_success_timestamp_seconds{endpoint="busy"}': FIXED / 1_000 + 60,
  })
})

test('a process shows only the series of the parts that it runs', async () => {
  const { store, values } = openTestMetrics({
    plan: { receive: false, work: true, schedule: false },
    intake: null,
  })
  await addTestEndpoint(store, 'main')
  await saveTestWorkflows(store, 'verify')
  const names = Object.keys(await values())
  expect(names.filter((name) => name.startsWith('upshot_runs_started'))).not.toEqual([])
  expect(names.filter((name) => /upshot_(deliveries|ticks|receiver)/.test(name))).toEqual([])
})

test('a scrape reads the state of the store, the worker and the receiver', async () => {
  const { metrics, values } = openTestMetrics()
  metrics.count({ kind: 'endpoint.suspect', endpoint: 'end_1', endpointName: 'main', failures: 5, lastSuccessAt: NOW })
  expect(await values()).toMatchObject({
    'upshot_ready{check="writable"}': 1,
    'upshot_ready{check="app"}': 0,
    'upshot_runs{status="pending"}': 0,
    upshot_runs_for_person: 0,
    upshot_worker_slots: 20,
    upshot_worker_slots_busy: 3,
    'upshot_engine_memory_bytes{of="buffers"}': 6,
    upshot_engine_memory_short: 1,
    upshot_receiver_waiting: 1,
    'upshot_files_limit_per_minute{account="default"}': 100,
    'upshot_endpoint_suspect{endpoint="end_1"}': 1,
    'upshot_store_bytes{part="database"}': expect.any(Number),
    upshot_disk_free_bytes: expect.any(Number),
    process_start_time_seconds: expect.any(Number),
    nodejs_eventloop_lag_p99_seconds: expect.any(Number),
  })
})

test('OpenMetrics has an example of each histogram with its trace, and the text format has none', async () => {
  const { metrics, text } = openTestMetrics()
  for (const notice of runNotices()) metrics.count(notice)
  const open = await text(OPEN_METRICS)
  expect(open).toMatch(/# EOF\n$/)
  const example = `# {trace_id="${traceIdOf(ROOT)}"} 0.012 ${NOW / 1_000}`
  expect(open).toContain(`upshot_run_duration_seconds_bucket{workflow="verify",le="0.05"} 1 ${example}`)
  expect(open).toContain('upshot_runs_ended_total{workflow="verify",outcome="completed"} 1')
  const plain = await text()
  expect(plain).not.toContain('trace_id')
  expect(plain).toContain('process_cpu_user_seconds_total')
})

test('a fault is counted by the part that had it, without ids, names and paths', async () => {
  const { metrics, values } = openTestMetrics()
  const error = { name: 'Error', message: 'no' }
  for (const where of [
    'delivery dlv_1',
    'delivery dlv_2',
    'the self-probe of endpoint "main"',
    'GET /api/v1/runs/run_1',
  ]) {
    metrics.count({ kind: 'fault', where, error })
  }
  metrics.count({ kind: 'fault', where: 'schedule of nightly', error })
  const faults = Object.entries(await values()).filter(([name]) => name.startsWith('upshot_faults'))
  expect(Object.fromEntries(faults)).toEqual({
    'upshot_faults_total{where="delivery"}': 2,
    'upshot_faults_total{where="the self-probe of endpoint"}': 1,
    'upshot_faults_total{where="GET"}': 1,
    'upshot_faults_total{where="schedule"}': 1,
  })
})

test.skipIf(!hasPrometheus)(`promtool finds nothing to complain about in the metrics${WITH_PROMETHEUS}`, async () => {
  const { store, metrics, text } = openTestMetrics()
  await addTestEndpoint(store, 'main')
  await saveTestWorkflows(store, 'verify')
  for (const notice of runNotices()) metrics.count(notice)
  const scraped = await text()
  expect(scraped).toContain('nodejs_heap_size_used_bytes')
  expect(promtool(['check', 'metrics'], scraped)).toEqual({ status: 0, says: '' })
})

test('the approvals that wait for people are a gauge, with the moment of the oldest', async () => {
  const { values } = openTestMetrics({ listOpenApprovals: async () => [{ openedAt: NOW }, { openedAt: NOW - 5_000 }] })
  expect(await values()).toMatchObject({
    upshot_approvals_open: 2,
    upshot_approval_oldest_timestamp_seconds: NOW / 1_000 - 5,
  })
})

test('a server of PostgreSQL has gauges, of which a file has none', async () => {
  const server = {
    databaseBytes: 9_000,
    connections: 12,
    mostConnections: 100,
    oldestTransactionS: 1.5,
    deadRows: 7,
    standbys: 1,
    isReplicated: true,
    lagBytes: 512,
    weeksUntil: FIXED,
  }
  const state = await openTestMetrics({ readServerState: async () => server }).values()
  expect(state).toMatchObject({
    upshot_postgres_connections: 12,
    upshot_postgres_connections_max: 100,
    upshot_postgres_oldest_transaction_seconds: 1.5,
    upshot_postgres_queue_dead_rows: 7,
    upshot_postgres_standbys: 1,
    upshot_postgres_replicated: 1,
    upshot_postgres_standby_lag_bytes: 512,
    upshot_postgres_weeks_until_timestamp_seconds: FIXED / 1_000,
    'upshot_store_bytes{part="database"}': 9_000,
  })
  const names = Object.keys(await openTestMetrics().values())
  expect(names.filter((name) => name.startsWith('upshot_postgres'))).toEqual([])
  expect(names).toContain('upshot_store_bytes{part="log"}')
})

test('a clock that is set back during a call lowers no sum', async () => {
  const { metrics, values } = openTestMetrics()
  for (const notice of runNotices()) metrics.count(notice)
  const before = await values()
  for (const notice of runNotices()) {
    const back = { ...notice, ...('ms' in notice && { ms: -3_600_000 }), ...('waitedMs' in notice && { waitedMs: -9 }) }
    metrics.count(back as typeof notice)
  }
  const after = await values()
  const sums = Object.entries(before).filter(([name]) => /_(sum|total)\b/.test(name))
  const lower = sums.filter(([name, value]) => Number(after[name]) < value)
  expect(lower).toEqual([])
})

test('what the first scrape could not read, the next one reads', async () => {
  let isAway = true
  const { metrics, values } = openTestMetrics({
    readKnown: async () => {
      if (isAway) throw new Error('a file of ours is gone')
      return { fileOperations: [], fileOutcomes: [], adminOperations: ['runs.list'] }
    },
  })
  await expect(metrics.scrape('')).rejects.toThrow('gone')
  isAway = false
  expect(await values()).toMatchObject({ 'upshot_admin_requests_total{operation="runs.list",class="2xx"}': 0 })
})
