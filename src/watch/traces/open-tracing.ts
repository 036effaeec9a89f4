import { describeError } from '../../core/errors.ts'
import type { Notice, NoticeKind, Publish } from '../../core/notices.ts'
import type { Clock } from '../../core/time.ts'
import { openExporter } from './open-exporter.ts'
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
