import { expect, test } from 'vitest'
import type { Notice } from '../../../src/core/notices.ts'
import { MAX_SERIES, MAX_VALUES, SeriesBook } from '../../../src/watch/metrics/series-book.ts'
import { NOTICES } from '../../notices/support/notices.ts'
import { addTestEndpoint, saveTestWorkflows } from '../support/known.ts'
import { openTestMetrics } from '../support/open-test-metrics.ts'
import { runNotices } from '../support/run-notices.ts'

/** Families whose labels, or whose moments, are known only once something happens. */
const LATE = [
  'upshot_admin_request_duration_seconds',
  'upshot_endpoint_last_success_timestamp_seconds',
  'upshot_faults_total',
  'upshot_ledger_anchor_timestamp_seconds',
  'upshot_schedule_last_tick_timestamp_seconds',
  'upshot_step_duration_seconds',
]

const familyOf = (series: string) => series.replace(/(_bucket|_sum|_count)?(\{.*)?$/, '')

/** Series with their numbers, without what is read from the machine and the store. */
function countedOf(values: Record<string, number>): [string, number][] {
  return Object.entries(values).filter(([name]) => /^upshot_\w+?(_total|_duration|_delay|_lateness)/.test(name))
}

test('no notice makes a series that was not there with 0 before it, but the ones that are listed here', async () => {
  const { metrics, store, values } = openTestMetrics({
    alerts: [{ rule: 'run.failed', channel: 'ops' }],
    readKnown: async () => ({ fileOperations: ['get'], fileOutcomes: ['ok'], adminOperations: ['GET /runs'] }),
  })
  await addTestEndpoint(store, 'main')
  await saveTestWorkflows(store, 'verify-transfer', 'nightly')
  const [endpoint] = await store.listEndpoints()
  const before = await values()
  expect(before).toMatchObject({
    'upshot_deliveries_total{endpoint="main",verdict="bad_signature"}': 0,
    'upshot_deliveries_total{endpoint="none",verdict="unknown_endpoint"}': 0,
    'upshot_events_total{type="file.created",origin="send"}': 0,
    'upshot_admin_requests_total{operation="GET /runs",class="5xx"}': 0,
  })
  const counted = countedOf(before).filter(([name]) => !name.startsWith('upshot_store_'))
  expect(counted.length).toBeGreaterThan(100)
  expect(counted.filter(([, value]) => value !== 0)).toEqual([])

  for (const notice of Object.values(NOTICES) as Notice[]) {
    metrics.count('endpoint' in notice ? ({ ...notice, endpoint: endpoint?.id } as Notice) : notice)
  }
  const after = await values()
  const late = Object.keys(after).filter((name) => name.startsWith('upshot_') && !(name in before))
  expect([...new Set(late.map(familyOf))].sort()).toEqual(LATE)
  const grown = countedOf(after).filter(([name, value]) => value > (before[name] ?? 0))
  expect(new Set(grown.map(([name]) => familyOf(name))).size).toBeGreaterThan(25)
})

test('what is known from the start stays within 5,000 series, however large the project is', async () => {
  const adminOperations = Array.from({ length: 110 }, (_, n) => `GET /operation-${n}`)
  const known = { fileOperations: ['list', 'get', 'delete'], fileOutcomes: ['ok', 'left'], adminOperations }
  const { store, values } = openTestMetrics({ readKnown: async () => known })
  await saveTestWorkflows(store, ...Array.from({ length: 300 }, (_, n) => `workflow-${n}`))
  for (let n = 0; n < 120; n++) await addTestEndpoint(store, `endpoint-${n}`)
  const all = await values()
  const ours = Object.keys(all).filter((name) => name.startsWith('upshot_'))
  expect(ours.length).toBeGreaterThan(MAX_SERIES / 2)
  expect(ours.length).toBeLessThanOrEqual(MAX_SERIES)
  expect(all.upshot_metrics_series_dropped_total).toBeGreaterThan(0)
})

test('values beyond the bound of a label share the value "other", and are counted', () => {
  const book = new SeriesBook()
  for (let n = 0; n < MAX_VALUES.kind; n++) expect(book.bounded('kind', `k${n}`)).toBe(`k${n}`)
  expect(book.bounded('kind', 'one more')).toBe('other')
  expect(book.bounded('kind', 'k0')).toBe('k0')
  expect(book.dropped).toBe(1)
})

test('a process never has more than 5,000 series of ours, whatever it is told', async () => {
  const { metrics, values } = openTestMetrics()
  for (let n = 0; n < 1_000; n++)
    for (const notice of runNotices(`workflow-${n}`, `run_${n}`, `evt_${n}`)) {
      metrics.count(
        notice.kind === 'delivery.received' ? { ...notice, endpoint: `end_${n}`, type: `type.${n}` } : notice,
      )
    }
  const all = await values()
  const counted = Object.keys(all).filter((name) => name.startsWith('upshot_'))
  expect(counted.length).toBeGreaterThan(1_000)
  expect(counted.length).toBeLessThanOrEqual(MAX_SERIES)
  expect(all.upshot_metrics_series_dropped_total).toBeGreaterThan(0)
  const ended = Object.entries(all).filter(([name]) => /upshot_runs_ended_total.*completed/.test(name))
  expect(ended.reduce((sum, [, value]) => sum + value, 0)).toBe(1_000)
})
