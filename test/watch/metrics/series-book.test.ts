import { expect, test } from 'vitest'
import { MAX_SERIES, MAX_VALUES, SeriesBook } from '../../../src/watch/metrics/series-book.ts'
import { openTestMetrics } from '../support/open-test-metrics.ts'
import { runNotices } from '../support/run-notices.ts'

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
