import type { Clock } from '../../core/time.ts'
import type { Span } from './plan-spans.ts'

/** Spans of one request, and spans that wait for theirs; later ones are dropped. */
const MAX_BATCH = 512
const MAX_WAITING = 8_192
/** How long a stop waits for the collector. */
const FLUSH_WITHIN_MS = 2_000

interface SpanQueueParts {
  /** Sends a batch; rejects where the collector did not take it. */
  send: (spans: readonly Span[]) => Promise<void>
  clock: Clock
  /** How long a span waits for others. */
  delayMs: number
  /** Called with the error after the first failure, and after the first one behind a success. */
  failed: (error: unknown) => void
}

/**
 * Sends spans in batches, one at a time. A collector that hangs or is away costs nothing but the
 * spans: they are dropped and counted.
 */
export class SpanQueue {
  readonly #parts: SpanQueueParts
  #waiting: Span[] = []
  #sending: Promise<void> | null = null
  #cancelTimer: (() => void) | null = null
  #hasFailed = false
  /** Spans that no collector took. */
  dropped = 0

  constructor(parts: SpanQueueParts) {
    this.#parts = parts
  }

  add(spans: readonly Span[]): void {
    const room = MAX_WAITING - this.#waiting.length
    this.dropped += Math.max(0, spans.length - room)
    this.#waiting.push(...spans.slice(0, room))
    if (this.#waiting.length >= MAX_BATCH) this.#send()
    else this.#schedule()
  }

  /** Sends what waits; drops what takes longer than two seconds. */
  async stop(): Promise<void> {
    const { clock } = this.#parts
    const late = Promise.withResolvers<void>()
    const cancel = clock.at(clock.now() + FLUSH_WITHIN_MS, late.resolve)
    await Promise.race([this.#sendAll(), late.promise])
    cancel()
    this.#cancelTimer?.()
    this.dropped += this.#waiting.length
    this.#waiting = []
  }

  #schedule(): void {
    if (this.#cancelTimer !== null || this.#sending !== null || this.#waiting.length === 0) return
    const { clock, delayMs } = this.#parts
    this.#cancelTimer = clock.at(clock.now() + delayMs, () => this.#send())
  }

  async #sendAll(): Promise<void> {
    while (this.#waiting.length > 0 || this.#sending !== null) {
      this.#send()
      await this.#sending
    }
  }

  #send(): void {
    this.#cancelTimer?.()
    this.#cancelTimer = null
    if (this.#sending !== null || this.#waiting.length === 0) return
    const batch = this.#waiting.splice(0, MAX_BATCH)
    this.#sending = this.#parts
      .send(batch)
      .then(
        () => {
          this.#hasFailed = false
        },
        (error: unknown) => {
          this.dropped += batch.length
          if (!this.#hasFailed) this.#parts.failed(error)
          this.#hasFailed = true
        },
      )
      .finally(() => {
        this.#sending = null
        if (this.#waiting.length >= MAX_BATCH) this.#send()
        else this.#schedule()
      })
  }
}
