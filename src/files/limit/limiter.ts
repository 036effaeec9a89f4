import { type Clock, isoTime } from '../../core/time.ts'
import { type ErrorFacts, LocalRateLimitError } from '../errors.ts'
import {
  allowanceOf,
  blockedState,
  CLOCKS_DIFFER_MS,
  decideStarts,
  predictStart,
  probedState,
  stateAt,
  unstartedState,
  usedState,
} from './decide-start.ts'
import {
  type Allowance,
  type KeyLimit,
  type LimiterState,
  type LimiterStore,
  OPEN_STATE,
  type Priority,
  SharedState,
} from './limiter-store.ts'

/** A request that asks to start. */
interface Ticket {
  priority: Priority
  /** True: it starts only with a second start, which is kept for the request that follows it. */
  isFollowed?: boolean | undefined
  signal: AbortSignal
  /** Epoch milliseconds; a request that cannot start by then is refused. */
  latestAt: number
  facts: ErrorFacts
  /** Called with the next start (epoch milliseconds) each time this request has to wait. */
  onWait: (until: number) => void
}

/** The result of a request that started. */
interface Report {
  isProbe: boolean
  /** False when no reply came. */
  isAnswered: boolean
  /** Epoch milliseconds until which a 429 closed the key; null after any other reply. */
  blockedUntil: number | null
  /** The value of `X-RateLimit-Limit`; null when it was not sent. */
  limit: number | null
}

interface Started {
  isProbe: boolean
  /** The moment of the start that is kept for the next request; null where there is none. */
  keptAt: number | null
}

interface Waiting extends Ticket {
  start: (started: Started) => void
  refuse: (reason: unknown) => void
}

const ORDER: readonly Priority[] = ['interactive', 'workflow', 'background']

/**
 * Keeps the requests of one key under the limit, together with every other limiter on the store.
 */
export class Limiter {
  readonly #shared: SharedState
  readonly #clock: Clock
  readonly #limit: KeyLimit
  readonly #queue: Waiting[] = []
  #known: LimiterState = OPEN_STATE
  #pumping = false
  #isPumpStale = false
  #cancelTimer: (() => void) | null = null
  #promisedAt = 0
  #refusedAt = 0

  /** `key` is a fingerprint of the API key: the service counts requests per key. */
  constructor(parts: {
    key: string
    store: LimiterStore
    clock: Clock
    limit: KeyLimit
  }) {
    this.#shared = new SharedState(parts)
    this.#clock = parts.clock
    this.#limit = parts.limit
  }

  /** Requests in the queue. Those that could not start in time are not kept in it. */
  get waiting(): number {
    return this.#queue.length
  }

  /**
   * Resolves when the request may start. Rejects with `LocalRateLimitError` once that cannot be in
   * time, with the signal's reason, or with the store's error.
   */
  enter(ticket: Ticket): Promise<Started> {
    return new Promise((resolve, reject) => {
      if (ticket.signal.aborted) return reject(ticket.signal.reason)
      const leave = () => this.#refuse(waiting, ticket.signal.reason)
      const waiting: Waiting = {
        ...ticket,
        start: (started) => {
          ticket.signal.removeEventListener('abort', leave)
          resolve(started)
        },
        refuse: (reason) => {
          ticket.signal.removeEventListener('abort', leave)
          reject(reason)
        },
      }
      ticket.signal.addEventListener('abort', leave, { once: true })
      this.#enqueue(waiting)
      this.#refuseLate(this.#pumping)
      void this.#pump()
    })
  }

  /** Starts a request with the start kept for it. False: that is gone; the request has to enter. */
  async startKept(at: number): Promise<boolean> {
    let isStarted = false
    await this.#update((state) => {
      const now = this.#clock.now()
      const used = usedState(stateAt(state, { now, allowance: this.#allowance(state) }), { at, now })
      isStarted = used !== null
      return used ?? unstartedState(state, { at, count: 1 })
    })
    return isStarted
  }

  /** Gives back a start that was kept for a request that is not sent. */
  async giveBack(at: number): Promise<void> {
    await this.#update((state) => unstartedState(state, { at, count: 1 }))
    void this.#pump()
  }

  /** Applies the limit, the block or the probe's result that a reply carried. */
  async report(report: Report): Promise<void> {
    const learned = this.#limit.isFinal || report.limit === null || report.limit < 1 ? null : report.limit
    if (!report.isProbe && report.blockedUntil === null && (learned ?? this.#known.limit) === this.#known.limit) return
    await this.#update((state) => {
      const limited = learned === null ? state : { ...state, limit: learned }
      const { blockedUntil: until, isProbe } = report
      if (until !== null) return blockedState(limited, { until, isProbe, now: this.#clock.now() })
      return isProbe ? probedState(limited, report.isAnswered) : limited
    })
    void this.#pump()
  }

  #enqueue(waiting: Waiting): void {
    const rank = ORDER.indexOf(waiting.priority)
    const behind = this.#queue.findIndex((other) => ORDER.indexOf(other.priority) > rank)
    this.#queue.splice(behind === -1 ? this.#queue.length : behind, 0, waiting)
  }

  /** Starts requests in queue order until one has to wait; then sets a timer for its moment. */
  async #pump(): Promise<void> {
    this.#isPumpStale = true
    if (this.#pumping) return
    this.#pumping = true
    this.#cancelTimer?.()
    try {
      while (this.#queue.length > 0) {
        this.#isPumpStale = false
        const { decision, known } = await this.#shared.update((state) =>
          decideStarts(state, {
            now: this.#clock.now(),
            allowance: this.#allowance(state),
            wanted: this.#queue.map((waiting) => this.#startsOf(waiting, state)),
          }),
        )
        // Set only with the new starts in it; earlier, the first request would look too late for
        // its own start.
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
   * Starts the requests that are first now: the queue may have changed during the store's answer.
   */
  async #startFirst({ at, count, isProbe }: { at: number; count: number; isProbe: boolean }): Promise<void> {
    let unused = count
    for (let next = this.#queue[0]; next !== undefined; next = this.#queue[0]) {
      const starts = isProbe ? 1 : this.#startsOf(next, this.#known)
      if (starts > unused) break
      unused -= starts
      this.#queue.shift()
      next.start({ isProbe, keptAt: starts > 1 ? at : null })
    }
    if (unused > 0) await this.#update((state) => unstartedState(state, { at, count: unused }))
  }

  #sleep(until: number): void {
    this.#cancelTimer = this.#clock.at(until, () => void this.#pump())
    this.#refuseLate()
    this.#queue[0]?.onWait(until)
  }

  async #update(change: (state: LimiterState) => LimiterState): Promise<void> {
    this.#known = (await this.#shared.update((before) => ({ state: change(before) }))).state
  }

  /** A limit of one start keeps none for the next request. */
  #startsOf({ isFollowed = false }: Waiting, state: LimiterState): number {
    return isFollowed && this.#allowance(state).starts > 1 ? 2 : 1
  }

  #allowance(state: LimiterState): Allowance {
    const perMinute = this.#limit.isFinal ? this.#limit.perMinute : (state.limit ?? this.#limit.perMinute)
    return allowanceOf(this.#limit, perMinute)
  }

  /**
   * Refuses requests that cannot start in time: the queue stays short, and a run can park instead.
   * `isAsking`: those that wait only for the store's answer are kept, as no limit holds them up.
   */
  #refuseLate(isAsking = false): void {
    const now = this.#clock.now()
    // Promises of a clock that was set back since would hold runs for as long.
    if (now + CLOCKS_DIFFER_MS < this.#refusedAt) this.#promisedAt = 0
    this.#refusedAt = now
    const allowance = this.#allowance(this.#known)
    const known = stateAt(this.#known, { now, allowance })
    const startOf = (starts: number) => predictStart(known, { now, allowance, ahead: starts - 1 })
    let wanted = 0
    const late = this.#queue.filter((waiting) => {
      wanted += this.#startsOf(waiting, known)
      const start = startOf(wanted)
      return start > waiting.latestAt && !(isAsking && start <= now)
    })
    const why =
      known.blockedUntil > now ? 'The service told this key to wait' : 'The limit allows no request soon enough'
    for (const waiting of late) {
      const retryAt = this.#promise(startOf(wanted), allowance, this.#startsOf(waiting, known))
      this.#refuse(
        waiting,
        new LocalRateLimitError(`${why}. Call again at ${isoTime(retryAt)}.`, { ...waiting.facts, retryAt }),
      )
    }
  }

  /**
   * A retry moment per refused request, spaced as the limit allows, so that they return one by one.
   */
  #promise(earliest: number, { starts, windowMs }: Allowance, wanted: number): number {
    this.#promisedAt = Math.max(earliest, this.#promisedAt + Math.ceil((windowMs * wanted) / starts))
    return this.#promisedAt
  }

  #refuse(waiting: Waiting, reason: unknown): void {
    const position = this.#queue.indexOf(waiting)
    if (position === -1) return
    this.#queue.splice(position, 1)
    waiting.refuse(reason)
    // A timer that no request needs would keep the process alive.
    if (this.#queue.length === 0) this.#cancelTimer?.()
  }
}
