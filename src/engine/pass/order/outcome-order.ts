import { type Checkpoint, numberOf, type StepCall } from '../../../core/runs/step.ts'
import { neverSettles } from '../parking.ts'
import { LoopShare } from './loop-share.ts'

type Outcome = Pick<Checkpoint, 'key' | 'position' | 'settled'>

interface OrderParts {
  /** Resolves when another outcome may be written; null: now. Never settles where none may. */
  room: () => Promise<void> | null
  /** An outcome is under way; the pass may not end before it is delivered. */
  entered: () => void
  left: () => void
}

/**
 * Hands outcomes to the author's code one at a time, each once the code rests. Recorded ones come
 * by their number, then new ones as they arise. See decision 33.
 */
export class OutcomeOrder {
  /** Recorded outcomes by number, lowest first; none where it is delivered, to free its memory. */
  readonly #recorded: (Checkpoint | undefined)[]
  /** Index of the recorded outcome whose turn is next. */
  #next = 0
  /** Recorded outcomes that were reached before their turn, by key. */
  readonly #early = new Map<string, () => void>()
  #ready: (() => void) | null = null
  /** Outcomes without a number, in the order of reaching; null: still being read. */
  readonly #byName = new Map<string, (() => void) | null>()
  /** Gives the next new outcome, or lets the steps that are held begin. */
  readonly #fresh: (() => void)[] = []
  /** The number of the newest outcome. */
  #last: number
  #isScheduled = false
  #over: PromiseWithResolvers<void> | null = null
  #unexpected: { call: StepCall; isNew: boolean } | null = null
  #moves = 0
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

  /** A recorded step that the code asks for before its turn; undefined where there is none. */
  get early(): Checkpoint | undefined {
    const [key] = this.#early.keys()
    return key === undefined ? undefined : this.#recorded.find((step) => step?.key === key)
  }

  /** True where a step waits for its turn: the code asks for something else than is expected. */
  get isAskedOutOfOrder(): boolean {
    return this.#unexpected !== null || this.#early.size > 0
  }

  /** Counts what the code does and is given: while it stays the same, the code is still. */
  get moves(): number {
    return this.#moves
  }

  /** True where it holds no outcome for the code. */
  get isEmpty(): boolean {
    return !this.isReplaying && this.#early.size + this.#byName.size + this.#fresh.length === 0
  }

  /** The code has called a step, drawn a value, or done something else. */
  noteMove(): void {
    this.#moves += 1
  }

  /** The code has reached a step whose outcome has no number: it comes before those with one. */
  expectByName(key: string): void {
    this.#byName.set(key, null)
  }

  /**
   * Resolves when an outcome may be recorded and delivered, with the value of `settled` for its
   * row. Throws where the step began before the replay was over, which is a fault of the engine.
   */
  turn(outcome: Outcome): Promise<number | undefined> {
    const { key, position, settled } = outcome
    if (settled !== undefined) return new Promise((resolve) => this.repeat(outcome, () => resolve(settled)))
    if (this.isReplaying) throw new Error(`Step "${key}" began before the replay was over.`)
    if (this.#isClosed) return neverSettles()
    this.#parts.entered()
    return new Promise((resolve) => {
      this.#fresh.push(() => {
        this.#last += 1
        resolve(this.#last === position + 1 ? undefined : this.#last)
        this.#parts.left()
      })
      this.#schedule()
    })
  }

  /** Calls `deliver` in the turn of a recorded outcome. */
  repeat({ key, settled }: Outcome, deliver: () => void): void {
    if (settled === 0) {
      this.#parts.entered()
      this.#byName.set(key, () => {
        deliver()
        this.#parts.left()
      })
    } else if (key === this.expected?.key) this.#ready = deliver
    else if (this.isReplaying) this.#early.set(key, deliver)
    else deliver()
    if (this.#isNextDue()) this.#schedule()
  }

  /** The code has ended: what steps at work give is recorded as it comes. */
  end(): void {
    const due = [this.#ready, ...this.#early.values(), ...this.#byName.values()]
    this.#ready = null
    this.#early.clear()
    this.#byName.clear()
    if (this.isReplaying) {
      this.#next = this.#recorded.length
      this.#over?.resolve()
    }
    for (const deliver of due) deliver?.()
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

  #schedule(): void {
    if (this.#isScheduled) return
    this.#isScheduled = true
    const room = this.isReplaying ? null : this.#parts.room()
    if (room) void room.then(this.#plan)
    else this.#plan()
  }

  /** In a later turn of the event loop where the pass has had its share of this one. */
  readonly #plan = (): void => {
    if (this.#share.take()) onceAtRest(this.#give)
    else this.#share.later(this.#give)
  }

  readonly #give = (): void => {
    this.#isScheduled = false
    const deliver = this.#takeNext()
    if (deliver === null) return
    this.#moves += 1
    deliver()
    if (this.#isNextDue()) this.#schedule()
  }

  #isNextDue(): boolean {
    if (this.#byName.size > 0) return this.#firstByName?.[1] !== null
    return this.isReplaying ? this.#ready !== null : this.#fresh.length > 0
  }

  get #firstByName(): [string, (() => void) | null] | undefined {
    return this.#byName.entries().next().value
  }

  #takeNext(): (() => void) | null {
    if (this.#byName.size > 0) return this.#takeByName()
    return this.isReplaying ? this.#takeReady() : (this.#fresh.shift() ?? null)
  }

  #takeByName(): (() => void) | null {
    const [key, deliver] = this.#firstByName ?? ['', null]
    if (deliver !== null) this.#byName.delete(key)
    return deliver
  }

  /** The expected outcome is delivered now; the next one is expected. */
  #takeReady(): (() => void) | null {
    const deliver = this.#ready
    if (deliver === null) return null
    this.#recorded[this.#next++] = undefined
    this.#ready = this.#early.size > 0 ? this.#takeEarly(this.expected?.key) : null
    if (!this.isReplaying && this.#over) this.#fresh.unshift(this.#over.resolve)
    return deliver
  }

  #takeEarly(key: string | undefined): (() => void) | null {
    const deliver = key === undefined ? undefined : this.#early.get(key)
    if (key === undefined || deliver === undefined) return null
    this.#early.delete(key)
    return deliver
  }
}

/** Steps with a number, in its order. Sorts only where steps ended in another order than begun. */
function sortRecorded(known: readonly Checkpoint[]): Checkpoint[] {
  const recorded: Checkpoint[] = []
  let last = 0
  let isInOrder = true
  for (const step of known) {
    const number = numberOf(step)
    if (number === 0) continue
    isInOrder &&= number > last
    last = number
    recorded.push(step)
  }
  return isInOrder ? recorded : recorded.sort((one, other) => numberOf(one) - numberOf(other))
}

/** Node's own way to do all microtasks and ticks, as between two timers. See decision 33. */
const { _tickCallback: settle } = process as unknown as { _tickCallback: () => void }

let due: (() => void)[] = []
let next: (() => void)[] = []
let isPlanned = false

/**
 * Calls back once the code of this thread rests: all microtasks and ticks are done, and what they
 * set off. It rests again before the next call for the same pass.
 */
function onceAtRest(call: () => void): void {
  due.push(call)
  if (isPlanned) return
  isPlanned = true
  process.nextTick(callAll)
}

function callAll(): void {
  try {
    settle()
    while (due.length > 0) {
      ;[due, next] = [next, due]
      for (const call of next) call()
      next.length = 0
      settle()
    }
  } finally {
    // Ticks of authors may throw here, as anywhere.
    isPlanned = due.length > 0
    if (isPlanned) process.nextTick(callAll)
  }
}
