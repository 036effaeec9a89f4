import { type Checkpoint, numberOf, type StepCall } from '../../core/runs/step.ts'
import { LoopShare } from './loop-share.ts'
import { neverSettles } from './parking.ts'

type Outcome = Pick<Checkpoint, 'key' | 'position' | 'settled'>
type Deliver = (settled: number | undefined) => void

interface OrderParts {
  /** Resolves when another outcome may be written; null: now. Never settles where none may. */
  room: () => Promise<void> | null
  /** A new outcome is under way; the pass may not end before it is delivered. */
  entered: () => void
  left: () => void
}

/**
 * Hands outcomes to the author's code one at a time. Recorded ones come by their number, then new
 * ones as they arise. See decision 33.
 */
export class OutcomeOrder {
  /** Recorded outcomes by number, lowest first; none where it is delivered, to free its memory. */
  readonly #recorded: (Checkpoint | undefined)[]
  /** Index of the recorded outcome whose turn is next. */
  #next = 0
  /** Recorded outcomes that were reached before their turn, by key. */
  readonly #early = new Map<string, () => void>()
  #ready: (() => void) | null = null
  /** New outcomes. Null: the steps that are held begin. */
  readonly #fresh: ({ outcome: Outcome; deliver: Deliver } | null)[] = []
  /** The number of the newest outcome. */
  #last: number
  #isScheduled = false
  #over: PromiseWithResolvers<void> | null = null
  #unexpected: { call: StepCall; isNew: boolean } | null = null
  #moves = 0
  /** Key of the step that the code called, if it has done and got nothing else since. */
  #lastCall: string | null = null
  #isClosed = false
  readonly #share = new LoopShare()
  readonly #parts: OrderParts

  constructor(known: readonly Checkpoint[], parts: OrderParts) {
    this.#parts = parts
    const recorded = sortRecorded(known)
    this.#recorded = recorded
    const newest = recorded.at(-1)
    this.#last = newest ? numberOf(newest) : 0
  }

  /** True until every recorded outcome is delivered. */
  get isReplaying(): boolean {
    return this.#next < this.#recorded.length
  }

  /** The recorded outcome whose turn is next; undefined once the replay is over. */
  get expected(): Checkpoint | undefined {
    return this.#recorded[this.#next]
  }

  /** The call that is held although the replay does not expect it; null where there is none. */
  get unexpected(): StepCall | null {
    return this.#unexpected?.call ?? null
  }

  /** True where a step waits for its turn: the code asks for something else than is expected. */
  get isAskedOutOfOrder(): boolean {
    return this.#unexpected !== null || this.#early.size > 0
  }

  /** Counts what the code does and is given: while it stays the same, the code is still. */
  get moves(): number {
    return this.#moves
  }

  /** The code has called a step. */
  noteCall(key: string): void {
    this.#moves += 1
    this.#lastCall = key
  }

  /** True where it holds no outcome for the code. */
  get isEmpty(): boolean {
    return !this.isReplaying && this.#early.size === 0 && this.#fresh.length === 0
  }

  /** The code has drawn a time or a random value, or done something else than call a step. */
  noteMove(): void {
    this.#moves += 1
    this.#lastCall = null
  }

  /**
   * Resolves when an outcome may be recorded and delivered, with the value of `settled` for its
   * row. Throws where the step began before the replay was over, which is a fault of the engine.
   */
  turn(outcome: Outcome): Promise<number | undefined> {
    const { key, settled } = outcome
    if (settled !== undefined) return new Promise((resolve) => this.repeat(outcome, resolve))
    if (this.isReplaying) throw new Error(`Step "${key}" began before the replay was over.`)
    if (this.#isClosed) return neverSettles()
    this.#parts.entered()
    return new Promise((deliver) => {
      this.#fresh.push({ outcome, deliver })
      this.#schedule()
    })
  }

  /**
   * Calls `deliver` in the turn of a recorded outcome, after all that the one before it set off. An
   * outcome without `settled` comes at once: nothing happens beside it.
   */
  repeat(outcome: Outcome, deliver: Deliver): void {
    const { key, settled } = outcome
    if (settled === 0 || !this.isReplaying) this.#giveByName(() => deliver(settled))
    else if (key !== this.expected?.key) this.#early.set(key, () => deliver(settled))
    else if (settled !== undefined) {
      this.#ready = () => deliver(settled)
      this.#schedule()
    } else if (this.#share.take()) {
      this.#advance()
      deliver(undefined)
      this.#scheduleNext()
    } else {
      this.#ready = () => deliver(undefined)
      this.#isScheduled = true
      this.#share.later(this.#grant)
    }
  }

  #giveByName(deliver: () => void): void {
    if (this.#share.take()) {
      deliver()
      return
    }
    this.#parts.entered()
    this.#share.later(() => {
      deliver()
      this.#parts.left()
    })
  }

  /** The code has ended: what steps at work give is recorded as it comes. */
  end(): void {
    if (!this.isReplaying) return
    this.#next = this.#recorded.length
    this.#ready?.()
    this.#ready = null
    for (const deliver of this.#early.values()) deliver()
    this.#early.clear()
    this.#over?.resolve()
  }

  /** The outcome of the run is decided: no other is delivered. */
  close(): void {
    this.#isClosed = true
  }

  /** Resolves when every recorded outcome is delivered; until then, nothing new may begin. */
  over(): Promise<void> {
    this.#over ??= Promise.withResolvers()
    return this.#over.promise
  }

  /** Notes a call that is held until the end of the replay. A step without a row tells most. */
  hold(isNew: boolean, describe: () => StepCall): void {
    const { isNew: isKnownNew = false } = this.#unexpected ?? {}
    if (this.#unexpected === null || (isNew && !isKnownNew)) this.#unexpected = { call: describe(), isNew }
  }

  /** Through the microtasks to the next tick: by then the code has done all that it can at once. */
  #schedule(): void {
    if (this.#isScheduled) return
    this.#isScheduled = true
    const room = this.isReplaying ? null : this.#parts.room()
    if (room) void room.then(this.#plan)
    else this.#plan()
  }

  /** In a later turn of the event loop where the pass has had its share of this one. */
  readonly #plan = (): void => {
    if (this.#share.take()) void SETTLED.then(this.#hop)
    else this.#share.later(this.#grant)
  }

  readonly #hop = (): void => process.nextTick(this.#grant)

  readonly #grant = (): void => {
    this.#isScheduled = false
    if (this.isReplaying) this.#deliverReady()
    else this.#deliverFresh()
    this.#scheduleNext()
  }

  #scheduleNext(): void {
    if (this.#ready !== null || (!this.isReplaying && this.#fresh.length > 0)) this.#schedule()
  }

  #deliverReady(): void {
    const deliver = this.#ready
    if (deliver === null) return
    this.#advance()
    deliver()
  }

  /** The expected outcome is delivered now; the next one is expected. */
  #advance(): void {
    this.#noteDelivery()
    this.#recorded[this.#next++] = undefined
    this.#ready = this.#early.size > 0 ? this.#takeEarly(this.expected?.key) : null
    if (!this.isReplaying && this.#over) this.#fresh.unshift(null)
  }

  #takeEarly(key: string | undefined): (() => void) | null {
    const deliver = key === undefined ? undefined : this.#early.get(key)
    if (key === undefined || deliver === undefined) return null
    this.#early.delete(key)
    return deliver
  }

  #deliverFresh(): void {
    const next = this.#fresh.shift()
    if (next === null) this.#over?.resolve()
    if (!next) return
    const { outcome, deliver } = next
    this.#last += 1
    const isInLine = this.#lastCall === outcome.key && this.#last === outcome.position + 1
    this.#noteDelivery()
    deliver(isInLine ? undefined : this.#last)
    this.#parts.left()
  }

  #noteDelivery(): void {
    this.#moves += 1
    this.#lastCall = null
  }
}

const SETTLED = Promise.resolve()

/** Steps with a number, in its order. Sorts only where steps ended in another order than begun. */
function sortRecorded(known: readonly Checkpoint[]): Checkpoint[] {
  const recorded = known.filter((step) => numberOf(step) > 0)
  let last = 0
  for (const step of recorded) {
    if (numberOf(step) < last) return recorded.sort((one, other) => numberOf(one) - numberOf(other))
    last = numberOf(step)
  }
  return recorded
}
