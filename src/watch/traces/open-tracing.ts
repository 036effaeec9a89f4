import type { SpanContext } from '@opentelemetry/api'
import { describeError, UpshotError } from '../../core/errors.ts'
import type { Notice, NoticeKind, Publish } from '../../core/notices.ts'
import type { Clock } from '../../core/time.ts'
import { SPAN_KINDS, type Span, type SpanIds } from './plan-spans.ts'
import { SpanQueue } from './span-queue.ts'
import { Tracing } from './tracing.ts'

interface TracingOptions {
  /** Attributes of every span's resource, such as `service.name`. */
  resource: Record<string, string>
  /** Share of traces that are sent, from 0 to 1. */
  ratio: number
  /** How long a span waits for others. */
  delayMs: number
}

interface Bus {
  publish: Publish
  subscribe(kind: NoticeKind | '*', listener: (notice: Notice) => void): () => void
}

/** Sends spans of the notices from now on. Throws `invalid_config` without the exporter. */
export async function openTracing(
  { resource, ratio, delayMs }: TracingOptions,
  { notices, clock, version }: { notices: Bus; clock: Clock; version: string },
): Promise<Tracing> {
  const exporter = await openExporter({ resource: { ...resource, 'service.version': version }, version })
  const queue = new SpanQueue({
    send: (spans) => exporter.send(spans),
    clock,
    delayMs,
    failed: (error) => notices.publish({ kind: 'fault', where: 'sending spans', error: describeError(error) }),
  })
  const tracing = new Tracing({ queue, now: () => clock.now(), ratio })
  notices.subscribe('*', (notice) => tracing.trace(notice))
  return tracing
}

/** How long one request may take. */
const TIMEOUT_MS = 10_000
/** The flag "sampled" of the W3C trace context, and OpenTelemetry's code of a failure. */
const SAMPLED = 1
const FAILED = 2
const EXPORTED = 0

interface ExporterOptions {
  /** Attributes of the resource, such as `service.name`. */
  resource: Record<string, string>
  version: string
}

/** The sender of spans to the collector that the `OTEL_` variables name. */
interface SpanExporter {
  send(spans: readonly Span[]): Promise<void>
}

/** Loads the official exporter. Throws `invalid_config` where it is not installed. */
export async function openExporter({ resource, version }: ExporterOptions): Promise<SpanExporter> {
  const { OTLPTraceExporter } = await load()
  const exporter = new OTLPTraceExporter({ timeoutMillis: TIMEOUT_MS })
  const source = { resource: { attributes: resource }, instrumentationScope: { name: 'upshot', version } }
  return {
    send: (spans) =>
      new Promise((resolve, reject) => {
        const readable = spans.map((span) => toReadable(span, source))
        exporter.export(readable as never, ({ code, error }) => {
          if (code === EXPORTED) resolve()
          else reject(error ?? new Error('The collector did not take the spans.'))
        })
      }),
  }
}

async function load() {
  try {
    return await import('@opentelemetry/exporter-trace-otlp-http')
  } catch (cause) {
    const fix = 'Install it with "npm install @opentelemetry/exporter-trace-otlp-http", or unset the variable.'
    const message = `OTEL_EXPORTER_OTLP_ENDPOINT is set, but the exporter is not installed. ${fix}`
    throw new UpshotError('invalid_config', message, { cause })
  }
}

interface Source {
  resource: { attributes: Record<string, string> }
  instrumentationScope: { name: string; version: string }
}

/** A span in the form of OpenTelemetry's SDK, of one shape that the engine compiles. */
function toReadable(span: Span, { resource, instrumentationScope }: Source) {
  const { traceId, name, kind, parentId, startedAt, endedAt, attributes, error, links, events } = span
  const context = toContext(span)
  return {
    resource,
    instrumentationScope,
    name,
    kind: SPAN_KINDS[kind],
    spanContext: () => context,
    parentSpanContext: parentId === null ? undefined : toContext({ traceId, spanId: parentId }),
    startTime: toHrTime(startedAt),
    endTime: toHrTime(endedAt),
    duration: toHrTime(endedAt - startedAt),
    status: error === null ? { code: 0 } : { code: FAILED, message: error },
    attributes,
    links: links.map((place) => ({ context: toContext(place) })),
    events: events.map(({ name, at, attributes }) => ({ name, time: toHrTime(at), attributes })),
    ended: true,
    droppedAttributesCount: 0,
    droppedEventsCount: 0,
    droppedLinksCount: 0,
  }
}

function toContext({ traceId, spanId }: SpanIds): SpanContext {
  return { traceId, spanId, traceFlags: SAMPLED }
}

/** Seconds and nanoseconds. */
function toHrTime(ms: number): [number, number] {
  const seconds = Math.floor(ms / 1_000)
  return [seconds, Math.round((ms - seconds * 1_000) * 1e6)]
}
