import { quietly } from '../own-work.ts'

/** Most outcomes that one pass is given in one turn of the event loop. */
const MAX_OUTCOMES = 1_000
/** Most real time that they may take. */
const MAX_SHARE_MS = 5

/** Outcomes between two looks at the clock. */
const LOOK_EACH = 8

/** Counts the turns of this thread's event loop of which a pass has asked. */
let turn = 0
let isTurnAwaited = false
/** Passes that have had their share, the oldest first. Each turn lets one of them go on. */
const waiting: (() => void)[] = []

/**
 * A pass's share of each turn of the event loop. Code that never awaits anything but finished steps
 * would let no other run, answer or timer through.
 */
export class LoopShare {
  #turn = -1
  #given = 0
  #endsAt = 0

  /** Counts an outcome. False where it has to come in a later turn: see {@link later}. */
  take(): boolean {
    this.#given += 1
    // The clock and a turn cost as much as an outcome of a replay.
    if (this.#given % LOOK_EACH !== 0) return true
    if (this.#turn === turn) return this.#given < MAX_OUTCOMES && performance.now() < this.#endsAt
    this.#turn = turn
    this.#given = 0
    this.#endsAt = performance.now() + MAX_SHARE_MS
    awaitTurn()
    return true
  }

  /** Calls back in a later turn, after the passes that wait already. */
  later(call: () => void): void {
    waiting.push(call)
    awaitTurn()
  }
}

function awaitTurn(): void {
  if (isTurnAwaited) return
  isTurnAwaited = true
  quietly(() => setImmediate(beginTurn))
}

function beginTurn(): void {
  isTurnAwaited = false
  turn += 1
  const next = waiting.shift()
  if (waiting.length > 0) awaitTurn()
  next?.()
}
