import type { Clock } from '../../core/time.ts'
import { decideStarts, isOpen, recentStarts, SPARE_MS, type StartDecision, settledStarts } from './decide-start.ts'
import { type LimiterState, type LimiterStore, OPEN_STATE } from './limiter-store.ts'

/** More are not taken ahead, however high the limit is. */
const MAX_SPARE = 50

/**
 * Starts that were taken ahead: in the shared state each stands at `until`, the last moment at
 * which it may be used.
 */
export interface ReservedStart {
  from: number
  until: number
  left: number
  used: number[]
}

/** What a change of the state comes to; the same state again is not written. */
type Change<T> = (state: LimiterState) => { state: LimiterState; result: T }

/**
 * The starts of one key, as all agree on them who share its store. While calls keep coming, a few
 * starts are taken ahead, so that the next of them need no commit: only a look whether somebody has
 * closed the key.
 */
export class SharedStarts {
  readonly #key: string
  readonly #store: LimiterStore
  readonly #clock: Clock
  #spare: ReservedStart | null = null
  #takenAt = Number.NEGATIVE_INFINITY
  #last: Promise<unknown> = Promise.resolve()

  constructor(parts: { key: string; store: LimiterStore; clock: Clock }) {
    this.#key = parts.key
    this.#store = parts.store
    this.#clock = parts.clock
  }

  /**
   * Takes starts for as many of the `wanted` requests as there is room for; `known` is the state
   * after that.
   */
  take(
    wanted: () => number,
    limitOf: (state: LimiterState) => number,
  ): Promise<{ decision: StartDecision; known: LimiterState }> {
    return this.#inTurn(async () => (await this.#takeSpare(wanted, limitOf)) ?? this.#takeNew(wanted, limitOf))
  }

  /** Changes the state for everybody, and gives it back. */
  change(turn: (state: LimiterState) => LimiterState): Promise<LimiterState> {
    return this.#inTurn(() =>
      this.#change((before) => {
        const state = turn(before)
        return { state, result: state }
      }),
    )
  }

  async #takeSpare(wanted: () => number, limitOf: (state: LimiterState) => number) {
    const spare = this.#spare
    if (spare === null || spare.left === 0) return null
    const { state } = await this.#load()
    const now = this.#clock.now()
    const isInTime = now >= spare.from && now <= spare.until
    if (!isInTime || !isOpen(state, { now, limit: limitOf(state) })) return null
    const count = Math.min(spare.left, wanted())
    spare.left -= count
    for (let used = 0; used < count; used++) spare.used.push(now)
    const decision: StartDecision = { kind: 'start', at: now, count, spare: 0, isProbe: false }
    return { decision, known: { ...state, starts: recentStarts(state.starts, now) } }
  }

  async #takeNew(wanted: () => number, limitOf: (state: LimiterState) => number) {
    let now = 0
    const taken = await this.#change((state) => {
      now = this.#clock.now()
      const limit = limitOf(state)
      // Whoever calls once a minute would only keep others from what it does not use.
      const spare = Math.abs(now - this.#takenAt) <= SPARE_MS ? Math.min(MAX_SPARE, Math.floor(limit / 10)) : 0
      const made = decideStarts(state, { now, limit, wanted: wanted(), spare })
      return { state: made.state, result: made }
    })
    const { decision, known } = taken
    if (decision.kind === 'start') {
      this.#takenAt = now
      const { spare } = decision
      this.#spare = spare > 0 ? { from: now, until: now + SPARE_MS, left: spare, used: [] } : null
    }
    return { decision, known }
  }

  /**
   * With each change goes what became of the starts taken ahead: the used ones as of when they were
   * used, the others not at all.
   */
  async #change<T>(turn: Change<T>): Promise<T> {
    for (;;) {
      const { state: kept, version } = await this.#load()
      const before = settledStarts(kept, this.#spare)
      const { state, result } = turn(before)
      if (state === before) return result
      if (await this.#store.save(this.#key, state, version)) {
        this.#spare = null
        return result
      }
    }
  }

  async #load(): Promise<{ state: LimiterState; version: number }> {
    return (await this.#store.load(this.#key)) ?? { state: OPEN_STATE, version: 0 }
  }

  /** One after the other: two at once would both settle the same spare starts. */
  #inTurn<T>(work: () => Promise<T>): Promise<T> {
    const mine = this.#last.then(work, work)
    this.#last = mine.catch(() => {})
    return mine
  }
}
