import { z } from 'zod'

/** How spans are sent; the exporter reads address and headers itself. */
export interface TraceConfig {
  resource: Record<string, string>
  ratio: number
  delayMs: number
}

const url = z.url({ protocol: /^https?$/ }).optional()
const RATIO_SAMPLERS = ['traceidratio', 'parentbased_traceidratio']
const SAMPLERS = ['always_on', 'always_off', 'parentbased_always_on', 'parentbased_always_off', ...RATIO_SAMPLERS]

/** The variables of OpenTelemetry that are read, with its own names and defaults. */
export const TRACES = {
  OTEL_EXPORTER_OTLP_ENDPOINT: [url, 'the address of a collector, such as http://127.0.0.1:4318'],
  OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: [url, 'the address of a collector that takes traces, with its path'],
  OTEL_EXPORTER_OTLP_HEADERS: [z.string().optional(), 'headers as name=value, joined by commas'],
  OTEL_SERVICE_NAME: [z.string().optional(), 'a name'],
  OTEL_RESOURCE_ATTRIBUTES: [z.string().default(''), 'attributes as name=value, joined by commas'],
  OTEL_TRACES_SAMPLER: [z.enum(SAMPLERS).default('always_on'), `one of ${SAMPLERS.join(', ')}`],
  OTEL_TRACES_SAMPLER_ARG: [z.coerce.number().min(0).max(1).default(1), 'a share from 0 to 1'],
  OTEL_BSP_SCHEDULE_DELAY: [z.coerce.number().int().min(1).max(600_000).default(5_000), 'milliseconds, at least 1'],
} as const

type TraceVariables = { [Name in keyof typeof TRACES]: z.output<(typeof TRACES)[Name][0]> }

/** Null where no collector is set. */
export function readTraces(values: TraceVariables): TraceConfig | null {
  if (!values.OTEL_EXPORTER_OTLP_ENDPOINT && !values.OTEL_EXPORTER_OTLP_TRACES_ENDPOINT) return null
  const attributes = values.OTEL_RESOURCE_ATTRIBUTES.split(',').flatMap((pair) => {
    const at = pair.indexOf('=')
    return at < 1 ? [] : [[pair.slice(0, at).trim(), decode(pair.slice(at + 1).trim())] as const]
  })
  // OpenTelemetry has the variable win over the attribute.
  const name = values.OTEL_SERVICE_NAME
  return {
    resource: {
      'service.name': 'upshot',
      ...Object.fromEntries(attributes),
      ...(name ? { 'service.name': name } : {}),
    },
    ratio: ratioOf(values),
    delayMs: values.OTEL_BSP_SCHEDULE_DELAY,
  }
}

function ratioOf({ OTEL_TRACES_SAMPLER: sampler, OTEL_TRACES_SAMPLER_ARG: share }: TraceVariables): number {
  if (sampler.endsWith('always_off')) return 0
  return RATIO_SAMPLERS.includes(sampler) ? share : 1
}

/** Values are percent-encoded, as in baggage; a bad encoding stays as it is. */
function decode(text: string): string {
  try {
    return decodeURIComponent(text)
  } catch {
    return text
  }
}
