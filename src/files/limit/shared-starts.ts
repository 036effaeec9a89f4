import { UpshotError } from '../../core/errors.ts'
import type { Clock } from '../../core/time.ts'
import {
  decideStarts,
  isOpen,
  RESERVED_FOR_MS,
  recentStarts,
  type StartDecision,
  settledStarts,
} from './decide-start.ts'
import { type Allowance, type LimiterState, type LimiterStore, OPEN_STATE } from './limiter-store.ts'

/** The largest reservation, however high the limit is. */
const MAX_RESERVED = 50

/** Starts that this process has reserved; the shared state lists each of them at `until`. */
interface ReservedStarts {
  from: number
  /** The last moment at which they may be used. */
  until: number
  left: number
  used: number[]
}

/** A change of the state. Giving back the same object writes nothing. */
/** Saves in a row that may fail. Each of them means that another process saved, so few do. */
const MAX_SAVES = 1_000

type Change<T> = (state: LimiterState) => { state: LimiterState; result: T }

/**
 * The starts of one key, shared by every process on its store. Under load it reserves a few starts:
 * using one costs a read, not a commit. See decision 22.
 */
export class SharedStarts {
  readonly #key: string
  readonly #store: LimiterStore
  readonly #clock: Clock
  #reserved: ReservedStarts | null = null
  #takenAt = Number.NEGATIVE_INFINITY
  #last: Promise<unknown> = Promise.resolve()

  constructor(parts: { key: string; store: LimiterStore; clock: Clock }) {
    this.#key = parts.key
    this.#store = parts.store
    this.#clock = parts.clock
  }

  /**
   * Takes starts for as many of the `wanted` requests as may start; `known` is the state
   * afterwards.
   */
  take(
    wanted: () => number,
    allowanceOf: (state: LimiterState) => Allowance,
  ): Promise<{ decision: StartDecision; known: LimiterState }> {
    return this.#inTurn(
      async () => (await this.#takeReserved(wanted, allowanceOf)) ?? this.#takeNew(wanted, allowanceOf),
    )
  }

  /** Changes the shared state; resolves to the new one. */
  update(change: (state: LimiterState) => LimiterState): Promise<LimiterState> {
    return this.#inTurn(() =>
      this.#update((before) => {
        const state = change(before)
        return { state, result: state }
      }),
    )
  }

  async #takeReserved(wanted: () => number, allowanceOf: (state: LimiterState) => Allowance) {
    const reserved = this.#reserved
    if (reserved === null || reserved.left === 0) return null
    const { state } = await this.#load()
    const now = this.#clock.now()
    const isInTime = now >= reserved.from && now <= reserved.until
    const at = { now, allowance: allowanceOf(state) }
    if (!isInTime || !isOpen(state, at)) return null
    const count = Math.min(reserved.left, wanted())
    reserved.left -= count
    for (let used = 0; used < count; used++) reserved.used.push(now)
    const decision: StartDecision = { kind: 'start', at: now, count, reserved: 0, isProbe: false }
    return { decision, known: { ...state, starts: recentStarts(state.starts, at) } }
  }

  async #takeNew(wanted: () => number, allowanceOf: (state: LimiterState) => Allowance) {
    let now = 0
    const taken = await this.#update((state) => {
      now = this.#clock.now()
      const allowance = allowanceOf(state)
      // A process that calls rarely reserves nothing: its unused starts would delay the others.
      const isBusy = Math.abs(now - this.#takenAt) <= RESERVED_FOR_MS
      const reserve = isBusy ? Math.min(MAX_RESERVED, Math.floor(allowance.starts / 10)) : 0
      const made = decideStarts(state, { now, allowance, wanted: wanted(), reserve })
      return { state: made.state, result: made }
    })
    const { decision, known } = taken
    if (decision.kind === 'start') {
      this.#takenAt = now
      const { reserved } = decision
      this.#reserved = reserved > 0 ? { from: now, until: now + RESERVED_FOR_MS, left: reserved, used: [] } : null
    }
    return { decision, known }
  }

  /**
   * Saves a change and settles the reservation in the same write. Repeats it when another process
   * saved first.
   */
  async #update<T>(change: Change<T>): Promise<T> {
    for (let attempt = 1; attempt <= MAX_SAVES; attempt++) {
      const { state: stored, version } = await this.#load()
      const before = settledStarts(stored, this.#reserved)
      const { state, result } = change(before)
      if (state === before) return result
      if (await this.#store.save(this.#key, state, version)) {
        this.#reserved = null
        return result
      }
    }
    const what = `The LimiterStore refused ${MAX_SAVES.toLocaleString('en')} saves in a row.`
    const rule = '"save" gives true where the stored version, 0 for none, is the given one; then "load" gives the next.'
    throw new UpshotError('invalid_config', `${what} ${rule}`)
  }

  async #load(): Promise<{ state: LimiterState; version: number }> {
    const loaded = (await this.#store.load(this.#key)) ?? { state: OPEN_STATE, version: 0 }
    if (Array.isArray(loaded.state?.starts)) return loaded
    const found = typeof loaded.state === 'string' ? 'text: parse it as JSON' : typeof loaded.state
    throw new UpshotError('invalid_config', `The LimiterStore gave no state that "save" was given, but ${found}.`)
  }

  /** Runs one piece of work at a time: two at once would settle one reservation twice. */
  #inTurn<T>(work: () => Promise<T>): Promise<T> {
    const mine = this.#last.then(work, work)
    this.#last = mine.catch(() => {})
    return mine
  }
}
