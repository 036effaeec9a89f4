import { collectDefaultMetrics, type Metric, Registry, type RegistryContentType } from 'prom-client'
import { traceIdOf } from '../../core/runs/trace.ts'
import type { Family, HistogramFamily, Labels } from './families.ts'

/** A scrape's answer. */
export interface Exposition {
  contentType: string
  text: string
}

/** A sample as prom-client formats it. */
interface Sample {
  metricName?: string
  labels: Record<string, string | number>
  value: number
  exemplar?: { labelSet: Labels; value: number; timestamp: number }
}

interface Exposed {
  name: string
  help: string
  type: string
  values: Sample[]
}

/** Gauges of prom-client with the names of counters, at which promtool takes offence. */
const MISNAMED = ['nodejs_active_resources_total', 'nodejs_active_handles_total', 'nodejs_active_requests_total']

/** The registry with the figures of the process and of Node, which begin with the first scrape. */
export function collectProcess(): Registry {
  const registry = new Registry()
  collectDefaultMetrics({ register: registry })
  for (const name of MISNAMED) registry.removeSingleMetric(name)
  return registry
}

/**
 * The text of a scrape. OpenMetrics with exemplars where `accept` asks for it, else the text format
 * of Prometheus.
 */
export async function expose(
  families: readonly Family[],
  process: Pick<Registry, 'getMetricsAsJSON'>,
  accept: string,
): Promise<Exposition> {
  const isOpen = accept.includes('application/openmetrics-text')
  const contentType = isOpen ? Registry.OPENMETRICS_CONTENT_TYPE : Registry.PROMETHEUS_CONTENT_TYPE
  // A registry per scrape: prom-client renames counters for OpenMetrics in place.
  const registry = new Registry<RegistryContentType>()
  registry.setContentType(contentType)
  const ours = families.filter(({ series }) => series.length > 0).map(toExposed)
  for (const exposed of [...ours, ...((await process.getMetricsAsJSON()) as unknown as Exposed[])]) {
    const metric: Exposed & { get: () => Promise<Exposed> } = { ...exposed, get: async () => metric }
    registry.registerMetric(metric as unknown as Metric)
  }
  return { contentType, text: await registry.metrics() }
}

function toExposed(family: Family): Exposed {
  const { name, help, kind } = family
  if (kind === 'histogram')
    return { name, help, type: kind, values: family.series.flatMap((one) => toSamples(family, one)) }
  return { name, help, type: kind, values: family.series.map(({ labels, value }) => ({ labels, value })) }
}

/** Cumulative buckets, then sum and count. */
function toSamples({ name, bounds }: HistogramFamily, one: HistogramFamily['series'][number]): Sample[] {
  const { labels, counts, sum, example } = one
  let total = 0
  const buckets = counts.map((count, bucket): Sample => {
    total += count
    const sample = { metricName: `${name}_bucket`, labels: { ...labels, le: bounds[bucket] ?? '+Inf' }, value: total }
    if (example?.bucket !== bucket) return sample
    const { value, at, root } = example
    return { ...sample, exemplar: { labelSet: { trace_id: traceIdOf(root) }, value, timestamp: at / 1_000 } }
  })
  return [
    ...buckets,
    { metricName: `${name}_sum`, labels, value: sum },
    { metricName: `${name}_count`, labels, value: total },
  ]
}
