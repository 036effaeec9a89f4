import type { Clock } from '../../core/time.ts'
import { type ErrorFacts, LocalRateLimitError } from '../errors.ts'
import {
  blockedState,
  predictStart,
  probedState,
  type StartDecision,
  unstartedState,
  WINDOW_MS,
} from './decide-start.ts'
import { type LimiterState, type LimiterStore, OPEN_STATE, type Priority } from './limiter-store.ts'
import { SharedStarts } from './shared-starts.ts'

/** A request that asks to start. */
export interface Ticket {
  priority: Priority
  signal: AbortSignal
  /** It would rather fail than wait beyond this moment. */
  latestAt: number
  facts: ErrorFacts
  /** Told whenever it is first in line and the line has to wait. */
  onWait: (until: number) => void
}

/** What became of a request that started. */
export interface Report {
  isProbe: boolean
  /** False when no reply came. */
  isAnswered: boolean
  /** Until when a 429 closed the key; null for any other end. */
  blockedUntil: number | null
  /** `X-RateLimit-Limit`, where it was sent. */
  limit: number | null
}

interface Waiting extends Ticket {
  start: (isProbe: boolean) => void
  refuse: (reason: unknown) => void
}

const ORDER: readonly Priority[] = ['interactive', 'workflow', 'background']

/**
 * Keeps the requests of one key under the service's limit, together with every other limiter on the
 * same store.
 */
export class Limiter {
  readonly #starts: SharedStarts
  readonly #clock: Clock
  readonly #limit: { perMinute: number; isFinal: boolean }
  readonly #queue: Waiting[] = []
  #known: LimiterState = OPEN_STATE
  #pumping = false
  #isPumpStale = false
  #cancelTimer: (() => void) | null = null
  #promisedAt = 0

  /** `key` is a fingerprint of the API key: the service counts per key. */
  constructor(parts: {
    key: string
    store: LimiterStore
    clock: Clock
    limit: { perMinute: number; isFinal: boolean }
  }) {
    this.#starts = new SharedStarts(parts)
    this.#clock = parts.clock
    this.#limit = parts.limit
  }

  /** Requests in the queue; never more than can start before they would rather fail. */
  get waiting(): number {
    return this.#queue.length
  }

  /**
   * Resolves when the request may start; rejects with `LocalRateLimitError` as soon as that will be
   * too late.
   */
  enter(ticket: Ticket): Promise<{ isProbe: boolean }> {
    return new Promise((resolve, reject) => {
      if (ticket.signal.aborted) return reject(ticket.signal.reason)
      const leave = () => this.#refuse(waiting, ticket.signal.reason)
      const waiting: Waiting = {
        ...ticket,
        start: (isProbe) => {
          ticket.signal.removeEventListener('abort', leave)
          resolve({ isProbe })
        },
        refuse: (reason) => {
          ticket.signal.removeEventListener('abort', leave)
          reject(reason)
        },
      }
      ticket.signal.addEventListener('abort', leave, { once: true })
      this.#enqueue(waiting)
      this.#refuseLate()
      void this.#pump()
    })
  }

  /** Takes in what a reply said about the limit. */
  async report(report: Report): Promise<void> {
    const learned = this.#limit.isFinal || report.limit === null || report.limit < 1 ? null : report.limit
    if (!report.isProbe && report.blockedUntil === null && (learned ?? this.#known.limit) === this.#known.limit) return
    await this.#change((state) => {
      const limited = learned === null ? state : { ...state, limit: learned }
      if (report.blockedUntil !== null) return blockedState(limited, report.blockedUntil)
      return report.isProbe ? probedState(limited, report.isAnswered) : limited
    })
    void this.#pump()
  }

  #enqueue(waiting: Waiting): void {
    const rank = ORDER.indexOf(waiting.priority)
    const behind = this.#queue.findIndex((other) => ORDER.indexOf(other.priority) > rank)
    this.#queue.splice(behind === -1 ? this.#queue.length : behind, 0, waiting)
  }

  /**
   * Lets requests start, first in line first, until the next has to wait; then sets the timer for
   * that moment.
   */
  async #pump(): Promise<void> {
    this.#isPumpStale = true
    if (this.#pumping) return
    this.#pumping = true
    this.#cancelTimer?.()
    try {
      while (this.#queue.length > 0) {
        this.#isPumpStale = false
        const { decision, known } = await this.#starts.take(
          () => this.#queue.length,
          (state) => this.#perMinute(state),
        )
        // Known together with the starts it holds: sooner, and the first in line would seem to come
        // too late for its own place.
        this.#known = known
        if (decision.kind === 'start') await this.#startFirst(decision)
        else if (!this.#isPumpStale) return this.#sleep(decision.until)
      }
    } catch (error) {
      for (const waiting of this.#queue.splice(0)) waiting.refuse(error)
    } finally {
      this.#pumping = false
    }
  }

  /**
   * Whoever is first by now: the line may have changed, or have emptied, while the store was asked.
   */
  async #startFirst({ at, count, isProbe }: Extract<StartDecision, { kind: 'start' }>): Promise<void> {
    const first = this.#queue.splice(0, count)
    for (const waiting of first) waiting.start(isProbe)
    const unused = count - first.length
    if (unused > 0) await this.#change((state) => unstartedState(state, { at, count: unused }))
  }

  #sleep(until: number): void {
    this.#cancelTimer = this.#clock.at(until, () => void this.#pump())
    this.#refuseLate()
    this.#queue[0]?.onWait(until)
  }

  async #change(turn: (state: LimiterState) => LimiterState): Promise<void> {
    this.#known = await this.#starts.change(turn)
  }

  #perMinute(state: LimiterState): number {
    return this.#limit.isFinal ? this.#limit.perMinute : (state.limit ?? this.#limit.perMinute)
  }

  /**
   * Whoever cannot start in time leaves now, so that the queue stays short and a run can sleep
   * durably instead.
   */
  #refuseLate(): void {
    const now = this.#clock.now()
    const limit = this.#perMinute(this.#known)
    const late = this.#queue.filter(
      (waiting, ahead) => predictStart(this.#known, { now, limit, ahead }) > waiting.latestAt,
    )
    for (const waiting of late) {
      const retryAt = this.#promise(predictStart(this.#known, { now, limit, ahead: this.#queue.length - 1 }), limit)
      this.#refuse(
        waiting,
        new LocalRateLimitError('The limit leaves no place soon enough; call again at `retryAt`.', {
          ...waiting.facts,
          retryAt,
        }),
      )
    }
  }

  /**
   * Gives each refused request a moment of its own, as far apart as the limit allows, so that they
   * do not return in a crowd.
   */
  #promise(earliest: number, limit: number): number {
    this.#promisedAt = Math.max(earliest, this.#promisedAt + Math.ceil(WINDOW_MS / limit))
    return this.#promisedAt
  }

  #refuse(waiting: Waiting, reason: unknown): void {
    const position = this.#queue.indexOf(waiting)
    if (position === -1) return
    this.#queue.splice(position, 1)
    waiting.refuse(reason)
    // A timer nobody waits for would keep the process from ending.
    if (this.#queue.length === 0) this.#cancelTimer?.()
  }
}
