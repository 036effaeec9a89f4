import type { AboutRun, Caller, Notice } from '../../core/notices.ts'
import { callSpanIdOf, traceIdOf } from '../../core/runs/trace.ts'
import { planSpans, type Span } from './plan-spans.ts'
import type { SpanQueue } from './span-queue.ts'

/** Spans of unsettled passes; beyond, they are sent before their checkpoints are saved. */
const MAX_HELD = 8_192

/** Notices after which the checkpoints of a pass are saved, and its spans may be sent. */
const SETTLED: ReadonlySet<string> = new Set([
  'run.completed',
  'run.failed',
  'run.parked',
  'run.limited',
  'run.ready',
  'run.canceled',
  'run.retried',
  'run.skipped',
  'run.planned',
  'run.released',
])

interface TracingParts {
  queue: Pick<SpanQueue, 'add' | 'stop' | 'dropped'>
  now: () => number
  /** Share of traces that are sent, from 0 to 1. */
  ratio: number
}

/**
 * Makes spans of notices. Those of a pass wait until it settles: a step that a crash repeats would
 * otherwise be sent twice. See decision 50.
 */
export class Tracing {
  readonly #parts: TracingParts
  readonly #held = new Map<string, Span[]>()
  #heldSpans = 0

  constructor(parts: TracingParts) {
    this.#parts = parts
  }

  get dropped(): number {
    return this.#parts.queue.dropped
  }

  /** To be called with every notice. */
  trace(notice: Notice): void {
    const spans = planSpans(notice, this.#parts.now()).filter(({ traceId }) => this.#isSampled(traceId))
    const run = notice.kind === 'files.called' ? notice.caller?.run : 'run' in notice ? notice.run : null
    if (run == null) this.#send(spans)
    else if (notice.kind === 'run.lost') this.#take(run)
    else if (SETTLED.has(notice.kind)) this.#send([...this.#take(run), ...spans])
    else if (spans.length > 0) this.#hold(run, spans)
  }

  /** The header `traceparent` of a call; null where its trace is not sent. */
  traceparentOf({ root, run, step, attempt }: Caller): string | null {
    if (root === null) return null
    const traceId = traceIdOf(root)
    return this.#isSampled(traceId) ? `00-${traceId}-${callSpanIdOf(run, step, attempt)}-01` : null
  }

  /** Sends what waits, within two seconds. */
  async stop(): Promise<void> {
    this.#send([...this.#held.values()].flat())
    this.#held.clear()
    await this.#parts.queue.stop()
  }

  /** The same in every process: it depends on the id alone. */
  #isSampled(traceId: string): boolean {
    if (this.#parts.ratio === 1) return true
    return Number.parseInt(traceId.slice(0, 8), 16) / 2 ** 32 < this.#parts.ratio
  }

  #hold(run: AboutRun['run'], spans: readonly Span[]): void {
    if (this.#heldSpans + spans.length > MAX_HELD) {
      this.#send(spans)
      return
    }
    const held = this.#held.get(run)
    if (held) held.push(...spans)
    else this.#held.set(run, [...spans])
    this.#heldSpans += spans.length
  }

  #take(run: string): Span[] {
    const held = this.#held.get(run) ?? []
    this.#held.delete(run)
    this.#heldSpans -= held.length
    return held
  }

  #send(spans: readonly Span[]): void {
    if (spans.length > 0) this.#parts.queue.add(spans)
  }
}
